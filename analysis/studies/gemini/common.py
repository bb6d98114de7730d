# SPDX-License-Identifier: BSD-3-Clause
"""What the studies of gemini share."""

from __future__ import annotations

PAPER = "Strohbeen, Gemini, 2011"
