# SPDX-License-Identifier: BSD-3-Clause
"""What is said of predictions over the number of ranks."""
