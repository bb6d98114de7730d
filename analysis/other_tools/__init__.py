# SPDX-License-Identifier: BSD-3-Clause
"""What other people's benchmarks print, held against our samples of the same session."""
