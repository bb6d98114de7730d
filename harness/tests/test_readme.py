# SPDX-License-Identifier: BSD-3-Clause
"""What the README says of its figure is so."""

from __future__ import annotations

import re
from pathlib import Path

from analysis.records.load import load

ROOT = Path(__file__).resolve().parents[2]
README = " ".join((ROOT / "README.md").read_text().split())


def test_its_figure_is_of_the_commit_that_it_names() -> None:
    (session,) = load([ROOT / "results/reference/demo"]).sessions
    assert "](docs/pictures/overlap_efficiency-both.png)" in README
    named = re.search(r"Made by `\./bench demo` at commit ([0-9a-f]{7,}) on ([\d-]+), with the engine as it", README)
    assert named and "drawn by `./bench report results/reference/demo`" in README, "the figure's commit and day"
    assert session["git"]["commit"].startswith(named[1])
    assert not session["git"]["dirty"]
    assert session["created"].startswith(named[2])
