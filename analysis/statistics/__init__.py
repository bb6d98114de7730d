# SPDX-License-Identifier: BSD-3-Clause
"""Intervals that know what they are: of a median, and of any function of medians over launches and samples."""
