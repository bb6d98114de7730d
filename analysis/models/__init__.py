# SPDX-License-Identifier: BSD-3-Clause
"""Models of the MPIs and of a network: fitted to records, and held against others."""
