# SPDX-License-Identifier: BSD-3-Clause
"""What was predicted by a model or ran on emulated processors says so, and proves nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from analysis.catalogue import draw_all
from analysis.claims.table import table
from analysis.evidence import Evidence
from analysis.figures import toolkit
from analysis.records.load import load
from analysis.report import chart
from analysis.report.paper import write_paper
from analysis.report.verdict import verdict
from analysis.tests.synthetic import USUAL, Synthetic


def _emulated_session(folder: Path) -> Path:
    variants = {name: USUAL[name] for name in ("bare", "adaptive")}
    return Synthetic(mpis={"mpich": variants}, patterns=("both",), comp_over_comm=(1.0,)).write(folder)


def _say_in_session(session: Path) -> None:
    file = session / "session.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "emulated": True}))


def _say_in_one_record(session: Path) -> None:
    file = sorted((session / "records").iterdir())[3]
    first, *rest = file.read_text().splitlines()
    header = json.loads(first)
    header["header"]["context"]["emulated"] = True
    file.write_text("\n".join([json.dumps(header), *rest]) + "\n")


@pytest.mark.parametrize("say", [_say_in_session, _say_in_one_record])
def test_an_emulated_session_decides_nothing(say: object, tmp_path: Path) -> None:
    hardware, emulated = (_emulated_session(tmp_path / name) for name in ("hardware", "emulated"))
    assert callable(say)
    say(emulated)
    rows = [row for row in table([hardware, emulated]).rows if row.value is not None]
    decided = {
        session: {row.decision for row in rows if row.session == session} for session in ("hardware", "emulated")
    }
    assert "reproduced" in decided["hardware"]
    assert decided["emulated"] == {"not decided: emulated machine"}
    (caution,) = load([hardware, emulated]).cautions()
    assert caution.startswith("Session emulated ran on emulated machines")


def _session(folder: Path, **more: Any) -> Path:
    variants = {name: USUAL[name] for name in ("bare", "adaptive")}
    return Synthetic(mpis={"mpich": variants}, patterns=("both",), comp_over_comm=(1.0,), **more).write(folder)


def _say(session: Path) -> None:
    """In every record, as the simulator does."""
    for file in (session / "records").iterdir():
        first, *rest = file.read_text().splitlines()
        header = json.loads(first)
        header["header"]["context"]["simulated"] = {"files": {"platform.xml": "0" * 64}, "draw": 0}
        file.write_text("\n".join([json.dumps(header), *rest]) + "\n")


def test_a_simulation_predicts_and_reproduces_nothing(tmp_path: Path) -> None:
    measured, simulated = (_session(tmp_path / name) for name in ("measured", "simulated"))
    _say(simulated)
    rows = [row for row in table([measured, simulated]).rows if row.value is not None]
    decided = {name: {row.decision for row in rows if row.session == name} for name in ("measured", "simulated")}
    assert "reproduced" in decided["measured"]
    assert "predicted" in decided["simulated"]
    assert not decided["simulated"] & {"reproduced", "not reproduced"}
    assert not any("reproduced" in row.reason for row in rows if row.session == "simulated")
    (caution,) = load([measured, simulated]).cautions()
    assert caution.startswith("Session simulated is simulated: a model predicted")


def test_a_figure_of_a_simulation_is_hatched(tmp_path: Path) -> None:
    simulated = _session(tmp_path / "simulated")
    plain = [drawn for drawn in _draw(simulated) if any(axes.patch.get_hatch() for axes in drawn.figure.axes)]
    assert plain == []
    _say(simulated)
    drawn = _draw(simulated)
    assert drawn
    for figure in drawn:
        assert figure.title.endswith("(simulated)")
        assert all(axes.patch.get_hatch() for axes in figure.figure.axes)
        assert "not measured" in figure.caption


def test_a_chart_of_the_page_is_hatched_in_each_panel(tmp_path: Path) -> None:
    simulated = _session(tmp_path / "simulated")
    assert not any(_hatched(drawn) for drawn in _draw(simulated))
    _say(simulated)
    for drawn in _draw(simulated):
        svg = _svg(drawn)
        assert _hatched(drawn) == svg.count('class="head"') > 0
    assert 'id="hatch"' in chart.symbols()


def test_a_verdict_of_a_simulation_says_that_it_is_predicted(tmp_path: Path) -> None:
    session = _session(tmp_path / "s", launches=2)
    for said in ("measured", "predicted"):
        records = load([session])
        found = verdict(Evidence(records).metrics, records.simulated)
        (mpi,), (answer,) = found.mpis, found.answers
        assert ("predicted" in answer.title) == (said == "predicted")
        assert mpi.headline.startswith("Predicted: ") == (said == "predicted")
        assert f"{said} ratio" in mpi.where
        assert f"were {said}" in " ".join([mpi.headline, *mpi.sentences]), "few launches"
        _say(session)


def test_a_study_without_claims_was_predicted_where_all_of_it_is(tmp_path: Path) -> None:
    measured, simulated = (_session(tmp_path / name, study="wakes-timer-halo") for name in ("measured", "simulated"))
    _say(simulated)
    for sessions, decision in (([simulated], "predicted, no claim"), ([simulated, measured], "measured, no claim")):
        (row,) = [row for row in table(sessions).rows if row.study == "wakes"]
        assert row.decision == decision


def test_an_appendix_of_a_simulation_reproduces_nothing(tmp_path: Path) -> None:
    session = _session(tmp_path / "s")
    _say(session)
    page = write_paper("pioman", [session], tmp_path / "out").read_text()
    assert "what a model predicts</h1>" in page
    assert "<td>predicted by a model</td>" in page
    assert " is predicted" in page
    assert " is reproduced" not in page
    figures = sorted((tmp_path / "out" / "figures").glob("paper-*.svg"))
    assert figures
    assert all("simulated" in figure.read_text() for figure in figures)


def _svg(drawn: toolkit.Drawn) -> str:
    return str(chart.draw(drawn, drawn.name, range(len(drawn.points)), [""] * len(drawn.points)).svg)


def _hatched(drawn: toolkit.Drawn) -> int:
    return _svg(drawn).count('class="hatched"')


def _draw(session: Path) -> list[toolkit.Drawn]:
    records = load([session])
    return draw_all(Evidence(records), toolkit.provenance(records))
