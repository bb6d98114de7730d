# SPDX-License-Identifier: BSD-3-Clause
"""Other people's codes."""
