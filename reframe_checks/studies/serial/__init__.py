# SPDX-License-Identifier: BSD-3-Clause
"""Our kernels beside those that they repeat, on one rank."""
