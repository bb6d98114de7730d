# SPDX-License-Identifier: BSD-3-Clause
"""Miwa, Nakashima, Naruse, "Interference-aware incoming message detection for MPI threaded progression"."""

from __future__ import annotations

from analysis.claims.evidence import Ratio
from analysis.claims.model import Claim, Study

PAPER = "Miwa et al., MWAIT"
SIBLING = {"placement": "smt-sibling"}

M1 = (
    Claim(
        statement="Waiting with mwait instead of spinning makes the sibling's computation 26 % faster",
        number="Himeno's rate with mwait / with spin on the SMT sibling",
        operator=">=",
        threshold=1.26,
        margin=0.06,
        comparator="spin",
        source="results b and abstract",
        measure=Ratio("mflops", "bare", "bare", {**SIBLING, "detection": "mwait-c1"}, {**SIBLING, "detection": "spin"}),
        requires=("smt", "mwait"),
    ),
)
M2 = (
    Claim(
        statement="Detection by mwait makes the ping-pong only slightly slower",
        number="median latency with mwait / with spin",
        operator="<=",
        threshold=1.0,
        margin=0.25,
        comparator="spin",
        source="results a and abstract",
        measure=Ratio("latency_s", "bare", "bare", {"detection": "mwait-c1"}, {"detection": "spin"}),
        requires=("smt", "mwait"),
    ),
)

STUDIES = (
    Study("M1", ("interference", "interference-network"), PAPER, "computation beside a waiting thread", M1),
    Study(
        "M2",
        ("detection-latency", "detection-latency-network"),
        PAPER,
        "latency of each way to detect a message",
        M2,
    ),
    Study(
        "M3",
        ("placement", "placement-himeno"),
        PAPER,
        "a dedicated core against SMT against sharing",
        note="the paper's future plan: measured, nothing was claimed",
    ),
)
