# SPDX-License-Identifier: BSD-3-Clause
"""No paper's: does the engine slow any workload down?"""
