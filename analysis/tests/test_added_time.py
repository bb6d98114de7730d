# SPDX-License-Identifier: BSD-3-Clause
"""Where the denominator of the overlap efficiency is short, people read the time that was added."""

from __future__ import annotations

import pytest

from analysis.evidence import Evidence
from analysis.metrics.formulas import efficiency_says_little
from analysis.records.load import load
from analysis.report import tables
from analysis.studies.pioman import overlap_ratio
from analysis.tests.synthetic import MB, Behaviour, Synthetic
from analysis.words import added_text


@pytest.mark.parametrize(
    ("low", "high", "expected"), [(0.9, 0.95, False), (-0.9, -0.2, False), (-1.1, -0.9, True), (-0.6, 0.5, True)]
)
def test_when_an_efficiency_says_little(low: float, high: float, expected: bool) -> None:
    assert efficiency_says_little(low, high) == expected


def test_added_time_in_words() -> None:
    assert added_text(62e-6, 60e-6, 65e-6) == "adds 62 µs (60 µs to 65 µs)"
    assert added_text(1e-6, -2e-6, 3e-6) == "adds 1 µs (−2 µs to 3 µs)"


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    """A message of 64 KB takes 0.6 ms; the thread adds 369 times that."""
    variants = {"bare": Behaviour(0.05), "thread": Behaviour(-369.0), "adaptive": Behaviour(0.93)}
    session = Synthetic(mpis={"mpich": variants}, sizes=(MB // 16,), comp_over_comm=(1.0,))
    return Evidence(load([session.write(tmp_path_factory.mktemp("added") / "s")]))


def test_the_table_says_the_time_added(evidence: Evidence) -> None:
    (table,) = tables.results(evidence.metrics)
    cells = {row[1]: row[table["columns"].index("overlap efficiency")] for row in table["rows"]}
    assert cells["thread"].startswith("adds 22")
    assert cells["thread"].count(" ms") == 3, "the value and both ends"
    assert cells["adaptive"].startswith("0.9")
    assert "369" not in "".join(cells.values())


def test_the_figure_says_the_time_added(evidence: Evidence) -> None:
    (drawn,) = overlap_ratio.efficiency(evidence, "")
    texts = [text.get_text() for axes in drawn.figure.axes for text in axes.texts]
    assert [text for text in texts if text.startswith("◀ adds 22") and " ms (" in text]
    assert not [text for text in texts if "369" in text]
    assert {"added_value", "added_low", "added_high"} <= set(drawn.points.columns)
