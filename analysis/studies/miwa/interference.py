# SPDX-License-Identifier: BSD-3-Clause
"""M1: Computation beside a waiting thread."""

from __future__ import annotations

from analysis.chapter import Chapter, Claim
from analysis.figures.detection import Detection
from analysis.measures import Ratio
from analysis.studies.miwa.common import PAPER

SIBLING = {"placement": "smt-sibling"}

CLAIMS = (
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
        since="2026-11-21 16:28",
    ),
)

FIGURES = (
    Detection("interference", "partner on the same node", victim=True),
    Detection("interference-network", "partner on another node", victim=True),
)

CHAPTER = Chapter(
    "M1", ("interference", "interference-network"), PAPER, "computation beside a waiting thread", CLAIMS, FIGURES
)
