# SPDX-License-Identifier: BSD-3-Clause
"""What the studies of miwa share."""

from __future__ import annotations

PAPER = "Miwa et al., MWAIT"
