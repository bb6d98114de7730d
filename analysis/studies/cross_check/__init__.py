# SPDX-License-Identifier: BSD-3-Clause
"""The cross-check against other tools."""
