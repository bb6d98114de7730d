# SPDX-License-Identifier: BSD-3-Clause
"""All figures that there are, and which of them some records can fill."""

from __future__ import annotations

from types import ModuleType

from analysis.claims.evidence import Evidence
from analysis.figures import (
    fukuoka,
    gemini,
    gemini_records,
    miwa,
    miwa_placement,
    overlap_efficiency,
    overlap_map,
    overlap_ratio,
    pioman_latency,
    pioman_threads,
    ruhela,
    send_time,
)
from analysis.figures.toolkit import Drawn

METRICS: list[ModuleType] = [
    overlap_efficiency,
    overlap_ratio,
    send_time,
    overlap_map,
    gemini,
]  # of the frame of evaluate()
RECORDS: list[ModuleType] = [
    pioman_latency,
    pioman_threads,
    miwa,
    miwa_placement,
    ruhela,
    fukuoka,
    gemini_records,
]  # of recorded quantities


def draw_all(evidence: Evidence, provenance: str) -> list[Drawn]:
    """Every figure that the records have points for, in the report's order."""
    drawn = [figure for module in METRICS for figure in module.draw(evidence.metrics, provenance)]
    return drawn + [figure for module in RECORDS for figure in module.draw(evidence, provenance)]
