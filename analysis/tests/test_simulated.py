# SPDX-License-Identifier: BSD-3-Clause
"""What was predicted by a model or ran on emulated processors says so, and proves nothing; and sessions of several
numbers of ranks: the times over them, what is saved, by setting, and the seven collectives."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.lines import Line2D

from analysis import scaling_table as tables
from analysis.claims.table import table
from analysis.evidence import Evidence
from analysis.figures import toolkit
from analysis.figures.render import figure_of, save
from analysis.figures.toolkit import Drawn
from analysis.records.load import load
from analysis.report import chart
from analysis.report.paper import write_paper
from analysis.report.sentences import verdict
from analysis.studies.scaling import by_ranks
from analysis.subject import draw_all
from analysis.tests.synthetic import MB, USUAL, Synthetic, edited


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
    plain = [drawn for drawn in _draw(simulated) if any(axes.patch.get_hatch() for axes in figure_of(drawn).axes)]
    assert plain == []
    _say(simulated)
    drawn = _draw(simulated)
    assert drawn
    for figure in drawn:
        assert figure.title.endswith("(simulated)")
        assert all(axes.patch.get_hatch() for axes in figure_of(figure).axes)
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


RANKS = (2, 8, 32)
MPICH = {"mpich": {name: USUAL[name] for name in ("bare", "adaptive")}}
SAVED = 0.45  # of two equal parts whose efficiencies are 0.93 and 0.05: 1 - 1.07 / 1.95
TWICE = -0.10  # with twice that time


def _sessions(folder: Path, study: str, ranks: tuple[int, ...] = RANKS) -> list[Path]:
    """A session for each number of ranks, said to be simulated."""
    made = []
    for number in ranks:
        session = Synthetic(MPICH, study, comp_s=(0.035,), launches=1, samples=3, ranks=number, nodes={})
        made.append(session.write(folder / f"{study}-{number}"))
        for file in (made[-1] / "records").iterdir():
            first, *rest = file.read_text().splitlines()
            header = json.loads(first)
            header["header"]["context"]["simulated"] = {"files": {}, "draw": 0}
            file.write_text("\n".join([json.dumps(header), *rest]) + "\n")
    return made


def _sweep(sessions: list[Path], **settings: int) -> None:
    """Beside each launch of adaptive another one with each of these settings."""
    for session in sessions:
        (plain,) = (session / "records").glob("*.adaptive.jsonl")
        for name, value in settings.items():
            lines = [json.loads(line) for line in plain.read_text().splitlines()]
            lines[0]["header"]["context"]["launch"] += f"+{name}={value}"
            for line in lines[1:-1]:
                line["point"][name] = value
                line["samples"]["total_s"] = [2 * seconds for seconds in line["samples"]["total_s"]]
            made = plain.with_name(f"{plain.stem}+{name}={value}.jsonl")
            made.write_text("".join(json.dumps(line) + "\n" for line in lines))


def _evidence(sessions: list[Path]) -> Evidence:
    return Evidence(load(sessions))


def _of_ranks(sessions: list[Path]) -> list[Drawn]:
    evidence = _evidence(sessions)
    return draw_all(evidence, toolkit.provenance(evidence.records))


def test_each_session_is_a_number_of_ranks(tmp_path: Path) -> None:
    frame = by_ranks(_evidence(_sessions(tmp_path, "scaling-overlap")), ("scaling-overlap", "scaling-halo"))
    assert list(frame["ranks"]) == [2, 2, 8, 8, 32, 32]
    saved = frame.set_index(["variant", "ranks"])["saved"]
    assert [saved["bare", ranks] for ranks in RANKS] == [0, 0, 0]
    assert [saved["adaptive", ranks] for ranks in RANKS] == pytest.approx([SAVED] * 3, abs=0.02)


def test_the_figure_has_a_panel_a_study_and_says_that_it_is_simulated(tmp_path: Path) -> None:
    sessions = _sessions(tmp_path, "scaling-overlap") + _sessions(tmp_path, "scaling-fft")
    drawn, saved = [one for one in _of_ranks(sessions) if one.subject == "scaling"]
    titles = [axes.get_title() for axes in figure_of(drawn).axes if axes.get_visible()]
    assert titles == ["overlap (weak): MPICH", "fft (strong): MPICH"]
    assert saved.points["value"].tolist() == pytest.approx([SAVED] * 6, abs=0.02)
    assert drawn.title.endswith("(simulated)") and all(axes.patch.get_hatch() for axes in figure_of(drawn).axes)
    assert drawn.caption.count("predicted by a model") == 1, "said once of sessions that share it"
    assert all(session.name in drawn.caption for session in sessions)
    overlap, fft = figure_of(drawn).axes[:2]
    assert overlap.get_xscale() == "log"
    assert sum(map(_has_values, fft.lines)) == sum(map(_has_values, overlap.lines)) + 1, "a strong one has a guide"
    guide = np.asarray(fft.lines[0].get_ydata(), float)
    assert guide[0] == pytest.approx(16 * guide[-1])
    assert re.search(r"overlap: 4\d % at 2 ranks, 4\d % at 32 ranks; fft: 4\d %", drawn.found)
    assert "without an interval" in drawn.found and "without an interval" in drawn.caption
    assert save(drawn, tmp_path)["svg"].stat().st_size > 1000


def _has_values(line: Line2D) -> bool:
    return len(np.asarray(line.get_ydata())) > 0


def test_one_number_of_ranks_is_no_scaling(tmp_path: Path) -> None:
    assert [one for one in _of_ranks(_sessions(tmp_path, "scaling-overlap", (8,))) if one.subject == "scaling"] == []


def test_the_map_has_a_row_a_setting_and_a_column_a_number_of_ranks(tmp_path: Path) -> None:
    sessions = _sessions(tmp_path, "wakes-adaptive-halo")
    _sweep(sessions, timer_us=500, rest_us=40000)
    (drawn,) = [one for one in _of_ranks(sessions) if one.subject == "wakes"]
    axes = figure_of(drawn).axes[0]
    rows = [label.get_text() for label in axes.get_yticklabels()]
    assert rows == ["adaptive, defaults", "adaptive, rest_us 40000", "adaptive, timer_us 500"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["2", "8", "32"]
    assert drawn.title.endswith("(simulated)")
    assert re.search(r"rest_us 5\d", drawn.found)
    assert "without an interval" in drawn.found and "without an interval" in drawn.caption
    assert drawn.points[["low", "high"]].isna().all(axis=None), "no interval of no width"
    cells = [float(text.get_text().removesuffix(" %")) for text in axes.texts if text.get_text() != "simulated"]
    assert cells == pytest.approx([100 * SAVED] * 3 + [100 * TWICE] * 6, abs=3)
    text = tables.document(_evidence(sessions))
    assert "| setting | 2 ranks | 8 ranks | 32 ranks |" in text
    assert re.search(r"\| adaptive, defaults \| 4\d % \| 4\d % \| 4\d % \|", text)


def test_the_tables_say_what_is_saved_and_that_nothing_was_measured(tmp_path: Path) -> None:
    text = tables.document(_evidence(_sessions(tmp_path, "scaling-overlap")))
    assert "| ranks | bare | adaptive |" in text
    assert [line for line in text.splitlines() if line.startswith("| 32 |") and "%)" in line]
    assert "a model predicted" in text
    assert "does not describe its compute nodes" not in text, "there are none"


def test_the_collectives_stand_beside_the_papers(tmp_path: Path) -> None:
    session = Synthetic(MPICH, "collective-overlap", ("all-to-one",), (MB,), (1.0,), launches=1, samples=3, ranks=8)
    folder = session.write(tmp_path / "r1")
    for lines in edited(folder):
        for line in lines[1:-1]:
            line["point"]["collective"] = "igather"
    text = tables.document(_evidence([folder]))
    assert "8 ranks, 1 MB" in text
    (row,) = [line for line in text.splitlines() if line.startswith("| Igather |")]
    assert row.endswith("| 46 % (all-to-one) |")


def test_sessions_of_something_else_have_no_table(tmp_path: Path) -> None:
    other = Synthetic(MPICH, launches=1, samples=3).write(tmp_path / "other")
    assert "no study that is told of here" in tables.document(_evidence([other]))
