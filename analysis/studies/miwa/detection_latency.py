# SPDX-License-Identifier: BSD-3-Clause
"""M2: Latency of each way to detect a message."""

from __future__ import annotations

from analysis.chapter import Chapter, Claim
from analysis.figures.detection import Detection
from analysis.measures import Ratio
from analysis.studies.miwa.common import PAPER

CLAIMS = (
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
        since="2026-11-21 16:28",
    ),
)

FIGURES = (
    Detection("detection-latency", "partner on the same node, nobody computes", victim=False),
    Detection("detection-latency-network", "partner on another node, nobody computes", victim=False),
)

CHAPTER = Chapter(
    "M2",
    ("detection-latency", "detection-latency-network"),
    PAPER,
    "latency of each way to detect a message",
    CLAIMS,
    FIGURES,
)
