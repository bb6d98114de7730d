# SPDX-License-Identifier: BSD-3-Clause
"""What the studies of ruhela share."""

from __future__ import annotations

PAPER = "Ruhela et al., EuroMPI 2018"
