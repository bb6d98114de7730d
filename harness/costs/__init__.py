# SPDX-License-Identifier: BSD-3-Clause
"""What the engine costs, held against its budgets: ./bench engine-costs."""
