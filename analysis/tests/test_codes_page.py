# SPDX-License-Identifier: BSD-3-Clause
"""The times of other people's codes on the page are those of the session that is kept."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from analysis.evidence import Evidence
from analysis.records import frames
from analysis.records.load import load
from analysis.statistics.bootstrap import ratio_of_medians

ROOT = Path(__file__).resolve().parents[2]
VARIANTS = ("adaptive", "idle", "offload")


def test_the_table_of_whole_times() -> None:
    evidence = Evidence(load([ROOT / "results/reference/codes-debian-openmpi"]))
    assert set(evidence.records.points["status"]) == {"ok"}
    expected = []
    for (study,), rows in frames.groups(evidence.records.points, ["study"]):
        whole = {str(variant): evidence.launches(part, "whole_s", "median")
                 for (variant,), part in frames.groups(rows, ["variant"])}  # fmt: skip
        bare = whole["bare"]
        assert {len(launches) for launches in whole.values()} == {6}
        ratios = [ratio_of_medians(whole[variant], bare) for variant in VARIANTS]
        cells = [f"{ratio.value:.2f} [{ratio.low:.2f}, {ratio.high:.2f}]" for ratio in ratios]
        expected.append(" | ".join([f"| {study}", f"{np.median(np.concatenate(bare)):.2f}", *cells]) + " |")
    page = (ROOT / "docs/measured/third-party-codes.md").read_text()
    section = page[page.index("\n## How long they take") :]
    assert [line for line in section.splitlines() if line.startswith("| ")][1:] == expected
