# SPDX-License-Identifier: BSD-3-Clause
"""No paper's: our kernels beside those that they repeat."""
