# SPDX-License-Identifier: BSD-3-Clause
"""No paper's: which node of an allocation, or link between two, is slower than the others?"""
