# SPDX-License-Identifier: BSD-3-Clause
"""What the studies of applications measure at their papers' scale is drawn whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.catalogue import draw_all
from analysis.evidence import Evidence
from analysis.records.load import identity, load
from analysis.tests.test_claims import study_session
from reframe_checks.catalogue import studies

STUDIES = ("nas", "npb-overlap", "fft", "minife-threads", "minife-packets", "minighost-nonblocking")
CALLS = ("irecv", "send", "wait", "allreduce", "allreduce_wait", "barrier", "outside")
OF_A_CALL = ("s", "packets_in", "packets_out")
QUANTITIES = ("elapsed_s", "comm_s", "comp_s", *(f"{call}_{what}" for call in CALLS for what in OF_A_CALL))


@pytest.mark.parametrize("study", STUDIES)
def test_each_point_has_a_place_of_its_own(tmp_path: Path, study: str) -> None:
    """None stands on another in its panel, and none is left out."""
    points = studies()[study].scales["paper"].points()
    measured = [{"point": point, "samples": dict.fromkeys(QUANTITIES, [1.0] * 3)} for point in points]
    session = study_session(tmp_path / "s", study, {"bare": measured}, launches=1)
    figures = draw_all(Evidence(load([session])), "made up")
    assert len({figure.name for figure in figures}) == len(figures)
    for figure in figures:
        plot = figure.plot
        places = list(dict.fromkeys(filter(None, (plot.x, plot.row, plot.series))))
        assert not figure.points.duplicated(places).any(), figure.name
    assert {point for figure in figures for point in figure.points["point"]} == {identity(point) for point in points}
