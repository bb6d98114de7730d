# SPDX-License-Identifier: BSD-3-Clause
"""What the studies of fukuoka share."""

from __future__ import annotations

PAPER = "Fukuoka et al., MPI+myth, HPCC 2019"
ULTS = {"threading": "ult"}
THREADING = {
    "kernel": "kernel threads",
    "ult": "user-level threads",
    "phases": "master only, in phases",
    "remove": "removed from the queue",
    "reinsert": "put back, to test",
}
