# SPDX-License-Identifier: BSD-3-Clause
"""The studies of each paper: a file a paper."""
