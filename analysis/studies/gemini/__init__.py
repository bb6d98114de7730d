# SPDX-License-Identifier: BSD-3-Clause
"""Strohbeen, "Overlapping Communication and Computation using Cray's Gemini Interconnect", Sandia 2011."""
