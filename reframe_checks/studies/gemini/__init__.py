# SPDX-License-Identifier: BSD-3-Clause
"""Strohbeen, "Overlapping Communication and Computation using Cray's Gemini Interconnect", Sandia 2011: studies G2, G3
and G4, miniGhost stripped to send - inflated computation - receive."""
