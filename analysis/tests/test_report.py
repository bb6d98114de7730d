# SPDX-License-Identifier: BSD-3-Clause
"""The report: its verdict, the times added, the transports, the marks of its tables."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.errors import Failure, UsageError
from analysis.evidence import Choice, Evidence
from analysis.figures.overlap import efficiency
from analysis.figures.render import figure_of
from analysis.figures.summary import summary
from analysis.metrics.evaluate import evaluate
from analysis.metrics.formulas import efficiency_says_little
from analysis.metrics.times import PARTS, tail_columns
from analysis.records.load import load
from analysis.report import page_tables
from analysis.report.page_tables import words
from analysis.report.points import Points
from analysis.report.report import build_report
from analysis.subject import draw_all
from analysis.tests.synthetic import LIMITED, MB, USUAL, Behaviour, Synthetic, changed_points, edited
from analysis.tests.test_claims import study_session
from analysis.words import added_text


def test_the_report_stands_alone_and_says_what_was_found(tmp_path: Path) -> None:
    variants = {name: USUAL[name] for name in ("bare", "mpi-async", "adaptive")}
    session = Synthetic(mpis={"mpich": variants}, launches=2, samples=5).write(tmp_path / "s")
    report = build_report([session])
    assert report.path == session / "report.html"
    page = report.path.read_text()
    assert not re.findall(r'(?:src|href)="(?!data:|#|records/)', page), "nothing from outside the file"
    assert "MPICH: this points to no progress while the program computes, but only 2 launches were measured" in page
    assert "made up: nothing was sent" in page
    assert ">wording</th>" in page and "since 2026-11-21" in page
    assert "a change of the code that computes the number is not seen there" in page
    assert "Its own progress thread makes it slower than no overlap at all" in report.verdict
    assert "The engine (adaptive) makes it overlap" in report.verdict
    assert "spreads over 2 launches" in report.verdict
    for figure in report.figures:
        assert {figure.with_suffix(suffix).exists() for suffix in (".png", ".svg", ".pdf", ".csv")} == {True}
    assert {figure.stem for figure in report.figures} == {"overlap_efficiency-both", "overlap_ratio-4mb"}


def test_the_answer_is_in_time_and_per_cent_at_each_size_and_told_before_anything_is_drawn(tmp_path: Path) -> None:
    same = {"bare": USUAL["bare"], "adaptive": USUAL["bare"]}
    made = Synthetic(
        mpis={"mpich": {name: USUAL[name] for name in ("bare", "mpi-async", "adaptive")}, "openmpi": same},
        sizes=(MB, 4 * MB), comp_over_comm=(1.0,), samples=8, launch_spread=0.02,
    ).write(tmp_path / "s")  # fmt: skip
    told: list[tuple[str, bool]] = []
    report = build_report([made], tmp_path / "out", tell=lambda said: told.append((said, (tmp_path / "out").exists())))
    (answer, drawn), (drawing, still_not) = told
    head, mpich, openmpi = answer.splitlines()
    assert not drawn and not still_not and "drawing" in drawing and report.verdict.startswith(answer)
    assert head.endswith("the MPI alone (bare), its own thread (mpi-async), the engine (adaptive).")
    shorter = r"4\d % shorter \(4\d to 4\d %\), \S+ ms → \S+ ms"
    assert re.fullmatch(rf"  MPICH, adaptive: 1 MB {shorter}; 4 MB {shorter}; pays from 1 MB on for certain", mpich), (
        mpich
    )
    assert re.search(r"4 MB no difference shown \(\S+ % shorter to \S+ % longer\)", openmpi), openmpi
    page = report.path.read_text()
    assert page.index("% shorter") < page.index('class="verdict"')
    bars = re.findall('class="of".*?</span>', page[: page.index('class="verdict"')])
    assert len(bars) == 2 * 3 + 2 * 2 and max(sum(widths(bar).values()) for bar in bars) == pytest.approx(100, abs=0.5)


def test_a_busy_machine_is_told_with_the_answer(tmp_path: Path) -> None:
    told: list[str] = []
    session = changed_points(made(tmp_path / "s"), "*", noise={"others_s": 0.5, "watched_s": 1.0})
    build_report([session], tmp_path / "out", tell=told.append)
    assert "Session s was disturbed: something else took 4" in told[0]


FULL = pytest.mark.full


@pytest.mark.parametrize(
    ("variants", "expected"),
    [
        ({"adaptive": Behaviour(0.9)}, "no verdict, because the variant bare was not run"),
        ({"bare": Behaviour(0.95, 1.03)}, "MPICH: this points to progress by itself, but only 2"),
        pytest.param({"bare": Behaviour(0.5)}, "progress in part by itself, but only 2", marks=FULL),
        pytest.param({"bare": Behaviour(0.1), "adaptive": Behaviour(0.9, fails="skipped")}, "made up", marks=FULL),
        ({"bare": Behaviour(0.1, fails="failed"), "adaptive": Behaviour(0.1, fails="failed")}, "failed: made up"),
    ],
)
def test_verdicts_of_partial_sessions(tmp_path: Path, variants: dict[str, Behaviour], expected: str) -> None:
    session = Synthetic(mpis={"mpich": variants}, launches=2, samples=5, comp_over_comm=(1.0,)).write(tmp_path / "s")
    report = build_report([session])
    assert expected in report.verdict
    assert report.path.exists()


def test_an_empty_session_has_a_report_that_says_so(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    report = build_report([tmp_path / "empty"], tmp_path / "out")
    assert report.path == tmp_path / "out" / "report.html"
    assert "was not measured" in report.verdict
    assert "no record files" in report.path.read_text() and "was not measured" in report.path.read_text()


def test_usage_errors(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no session given"):
        build_report([])
    with pytest.raises(UsageError, match="no such session"):
        build_report([tmp_path / "nowhere"])
    session = Synthetic(launches=1, comp_over_comm=(1.0,)).write(tmp_path / "s")
    with pytest.raises(UsageError, match="given twice"):
        build_report([session, tmp_path / "." / "s"])
    (tmp_path / "file").write_text("")
    with pytest.raises(Failure, match="cannot be written"):
        build_report([session], tmp_path / "file")


def test_an_interrupted_session_and_its_damaged_file_are_said_on_top(tmp_path: Path) -> None:
    session = Synthetic(mpis={"mpich": {"bare": Behaviour(0.1)}}, launches=2, comp_over_comm=(1.0,)).write(
        tmp_path / "s"
    )
    facts = (session / "session.json").read_text().replace('"state": "complete"', '"state": "interrupted"')
    (session / "session.json").write_text(facts)
    file = min((session / "records").glob("*.jsonl"))
    file.write_text("\n".join(file.read_text().splitlines()[:-1]))
    said = build_report([session]).verdict
    assert "Session s is interrupted" in said
    assert "1 problems in the files, the first" in said
    assert "MPICH: this points to no progress" in said


def test_what_is_known_of_an_mpi_is_told_as_that_and_as_no_failure(tmp_path: Path) -> None:
    """It fails as it is known to, or does not any more."""
    known = Behaviour(0.1, fails="skipped"), Behaviour(0.1)
    session = Synthetic(mpis={"mpich": dict(zip(("adaptive", "bare"), known, strict=True))}, launches=1).write(
        tmp_path / "s"
    )
    for file in (session / "records").glob("*.jsonl"):
        text = file.read_text().replace('"made up"', '"expected failure: no windows"')
        if ".bare" in file.name:
            text = text.replace('"end": {', '"end": {"reason": "unexpected success: no windows", ')
        file.write_text(text)
    records = load([session])
    rows = {tuple(row[4:]): row[2] for row in page_tables.gaps(records, evaluate(records))["rows"]}
    assert rows[("expected failure", "no windows")] == "adaptive"
    assert rows[("unexpected success", "no windows")] == "bare"


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
    (table,) = page_tables.results(evidence.metrics)
    cells = {row[1]: row[table["columns"].index("overlap efficiency")] for row in table["rows"]}
    assert cells["thread"].startswith("adds 22")
    assert cells["thread"].count(" ms") == 3, "the value and both ends"
    assert cells["adaptive"].startswith("0.9")
    assert "369" not in "".join(cells.values())


def test_the_figure_says_the_time_added(evidence: Evidence) -> None:
    (drawn,) = efficiency(evidence, "")
    texts = [text.get_text() for axes in figure_of(drawn).axes for text in axes.texts]
    assert [text for text in texts if text.startswith("◀ adds 22") and " ms (" in text]
    assert not [text for text in texts if "369" in text]
    assert {"added_value", "added_low", "added_high"} <= set(drawn.points.columns)


OB1 = {"component": "ob1", "libraries": ["mca_pml_ob1.so"], "devices": [], "tcp": True, "udp": True}
UCX = {"component": "ucx", "libraries": ["libucp.so"], "devices": ["/dev/infiniband/uverbs0"], "tcp": False}


def gaps(folder: Path, **transports: dict[str, Any] | None) -> list[list[str]]:
    """Of a session in which each variant's ranks had such a transport; None: they had no engine."""
    behaviour = {name: USUAL.get(name, Behaviour(0.1, 1.0)) for name in transports}
    made = Synthetic(mpis={"openmpi": behaviour}, launches=2, samples=5, comp_over_comm=(1.0,)).write(folder)
    for lines in edited(made):
        transport = transports[lines[0]["header"]["context"]["variant"]]
        for rank in lines[-1]["end"]["ranks"]:
            rank["engine"] = {"preset": "any", "active": True, "transport": transport} if transport else None
    records = load([made])
    return [row for row in page_tables.gaps(records, evaluate(records))["rows"] if row[3] == "transport"]


def test_a_transport_is_said_as_the_engine_says_it() -> None:
    assert words(OB1) == "ob1, tcp"
    assert words(UCX) == "ucx, /dev/infiniband/uverbs0"
    assert words({}) == "unknown"


def test_another_transport_than_without_the_engine_is_said(tmp_path: Path) -> None:
    (row,) = gaps(tmp_path / "s", bare=None, off=UCX, adaptive=OB1)
    assert row[1:5] == ["openmpi", "adaptive", "transport", "differs"]
    assert row[5] == "ob1, tcp; ucx, /dev/infiniband/uverbs0 under off: not the engine alone differs"


@pytest.mark.parametrize(
    "transports", [{"off": OB1, "adaptive": OB1}, {"bare": None, "adaptive": OB1}, {"adaptive": OB1, "idle": OB1}]
)
def test_what_is_alike_or_unknown_is_not_said(transports: dict[str, Any], tmp_path: Path) -> None:
    assert gaps(tmp_path / "s", **transports) == []


def test_without_that_variant_the_first_is_what_others_are_held_against(tmp_path: Path) -> None:
    (row,) = gaps(tmp_path / "s", adaptive=UCX, idle=OB1)
    assert (row[2], "under adaptive" in row[5]) == ("idle", True)


VARIANTS = {name: USUAL[name] for name in ("bare", "adaptive")}


def made(folder: Path, **changed: Any) -> Path:
    made = {"mpis": {"mpich": VARIANTS}, "comp_over_comm": (1.0,), "samples": 5, **changed}
    return Synthetic(**made).write(folder)


def cells(session: Path, column: str) -> dict[str, str]:
    """Variant -> what its row has in this column."""
    (table,) = page_tables.results(evaluate(load([session])))
    return {row[1]: row[table["columns"].index(column)] for row in table["rows"]}


def with_energy(folder: Path, told: dict[str, list[dict[str, Any]]]) -> Path:
    """A session in whose launches of these variants each rank's machine told this of its energy."""
    session = made(folder, launches=3)
    for lines in edited(session):
        energies = told.get(lines[0]["header"]["context"]["variant"], [])
        for rank, energy in zip(lines[-1]["end"]["ranks"], energies, strict=False):
            rank["energy"] = energy
    return session


UNREAD = {"unread": "no processor package in /sys/class/powercap"}
USED = {"joules": 30.0, "seconds": 2.0}
OF_NODE = {"source": "pm_counters", **USED}


@pytest.mark.parametrize(
    ("told", "energy", "said"),
    [
        ({}, None, ""),
        ({"bare": [USED], "adaptive": [USED, {"joules": 90.0, "seconds": 1.5}]},
         ["30 J, 15 W (15 to 15), processors", "120 J, 75 W (75 to 75), processors"], ""),
        ({"bare": [OF_NODE], "adaptive": [OF_NODE, OF_NODE]},
         ["30 J, 15 W (15 to 15), whole nodes", "60 J, 30 W (30 to 30), whole nodes"], ""),
        ({"bare": [USED], "adaptive": [USED, OF_NODE]}, ["30 J, 15 W (15 to 15), processors", "–"],
         "The energy of 3 of 6 launches is not known (vc1: by powercap; vc2: by pm_counters)."),
        ({"bare": [USED], "adaptive": [USED, UNREAD]}, ["30 J, 15 W (15 to 15), processors", "–"],
         "The energy of 3 of 6 launches is not known (vc2: no processor package in /sys/class/powercap)."),
        ({"bare": [UNREAD], "adaptive": [UNREAD]}, None,
         "The energy of 6 of 6 launches is not known (vc1: no processor package in /sys/class/powercap)."),
    ],
    ids=["older records", "known", "of nodes", "of unlike machines", "not of every machine", "of none"],
)  # fmt: skip
def test_energy_is_shown_where_every_machine_of_a_launch_told_it_and_its_lack_once(
    tmp_path: Path, told: dict[str, list[dict[str, Any]]], energy: list[str] | None, said: str
) -> None:
    records = load([with_energy(tmp_path / "s", told)])
    assert not records.problems
    table = page_tables.launches(records)
    shown = {row[2]: row[-1] for row in table["rows"]}
    assert [shown[variant] for variant in told if energy] == (energy or [])
    assert ("energy, power" in table["columns"]) == bool(energy)
    assert {len(row) for row in table["rows"]} == {len(table["columns"])}
    assert table["unread"] == said


@pytest.mark.parametrize(
    ("ranks", "slurm", "energy", "said"),
    [
        ([UNREAD], {"plugin": "ipmi", "step": "7.2", "nodes": 2, "joules": 90.0},
         "90 J, 30 W (30 to 30), 2 nodes by Slurm (ipmi)", ""),
        ([OF_NODE], {"plugin": "ipmi", "step": "7.2", "nodes": 2, "joules": 90.0},
         "30 J, 15 W (15 to 15), whole nodes", ""),
        ([UNREAD], {"unread": "it counted nothing for step 7.2"}, None, "The energy of 3 of 6 launches is not known "
         "(vc1: no processor package in /sys/class/powercap; Slurm: it counted nothing for step 7.2)."),
        ([], {"unread": "AcctGatherEnergyType is none"}, None,
         "The energy of 3 of 6 launches is not known (Slurm: AcctGatherEnergyType is none)."),
    ],
    ids=["counted", "ranks first", "nothing", "somebody else's program"],
)  # fmt: skip
def test_energy_is_as_slurm_counted_where_ranks_could_not_read_it(
    tmp_path: Path, ranks: list[dict[str, Any]], slurm: dict[str, Any], energy: str | None, said: str
) -> None:
    session = with_energy(tmp_path / "s", {"adaptive": ranks})
    for lines in edited(session, "*adaptive*"):
        lines[-1]["end"] |= {"energy": slurm, "launch_s": 3.0}
    records = load([session])
    assert not records.problems
    table = page_tables.launches(records)
    shown = {row[2]: row[-1] for row in table["rows"]}
    assert (shown["adaptive"] if energy else None) == energy and table["unread"] == said
    assert ("energy, power" in table["columns"]) == bool(energy)


def test_the_page_says_once_that_energy_is_not_known(tmp_path: Path) -> None:
    page = build_report([with_energy(tmp_path / "s", {"bare": [UNREAD], "adaptive": [UNREAD]})]).path.read_text()
    assert page.count("no processor package") == 1 and "energy, power" not in page


def test_six_quiet_launches_have_no_mark(tmp_path: Path) -> None:
    assert cells(made(tmp_path / "s"), "marks") == {"bare": "", "adaptive": ""}


def test_a_disturbed_row_is_marked(tmp_path: Path) -> None:
    session = changed_points(made(tmp_path / "s"), "*adaptive*", noise={"steal_s": 0.5})
    marks = cells(session, "marks")
    assert marks["bare"] == ""
    assert marks["adaptive"].startswith("disturbed: something else took ")


@pytest.mark.parametrize("launches", [1, 3])
def test_ranges_that_are_no_intervals_are_marked(tmp_path: Path, launches: int) -> None:
    for mark in cells(made(tmp_path / "s", launches=launches), "marks").values():
        assert mark.startswith("spread within one launch" if launches == 1 else "spread of 3 launches")


def test_a_share_of_the_limit_over_few_rounds_is_marked(tmp_path: Path) -> None:
    of = {name: LIMITED[name] for name in ("bare", "adaptive", "limit")}
    few = cells(made(tmp_path / "few", mpis={"mpich": of}, launches=3), "marks")
    assert "of the limit: a spread over 3 of 3 rounds" in few["adaptive"]
    enough = cells(made(tmp_path / "enough", mpis={"mpich": of}), "marks")
    assert "of the limit" not in enough["adaptive"]


def test_all_four_numbers_are_in_the_table(tmp_path: Path) -> None:
    session = made(tmp_path / "s")
    for column in ("overlap efficiency", "compute slowdown", "hidden communication", "cores used"):
        assert set(cells(session, column)) == {"bare", "adaptive"}
        assert all(re.fullmatch(r"\S+ \(\S+ to \S+\)", cell) for cell in cells(session, column).values()), column


def widths(bar: str) -> dict[str, float]:
    """Part -> how wide it is, per cent."""
    return {name: float(width) for name, width in re.findall(r'<i class="(\w+)" style="width:([\d.]+)%', bar)}


def test_each_row_says_where_its_time_goes(tmp_path: Path) -> None:
    session = made(tmp_path / "s", mpis={"mpich": {"bare": Behaviour(0.0), "adaptive": Behaviour(0.7, 1.2)}})
    found = {name: widths(bar) for name, bar in cells(session, "where it goes").items()}
    assert found["bare"] == pytest.approx(dict(zip(PARTS, (0, 50, 0, 50, 0), strict=True)), abs=2)
    assert found["adaptive"] == pytest.approx(dict(zip(PARTS, (0, 50, 10, 5, 0), strict=True)), abs=2)
    assert "post 20 µs" in cells(session, "where it goes")["bare"]


def test_the_table_says_what_it_could_have_seen_and_how_late_the_latest_were(tmp_path: Path) -> None:
    session = made(tmp_path / "s")
    sees = cells(session, "sees")
    assert sees["bare"] == "–" and re.fullmatch(r"±\d+\.\d %", sees["adaptive"])
    assert cells(made(tmp_path / "few", launches=3), "sees")["adaptive"] == "–"
    for tail in cells(session, "p95, p99, longest").values():
        assert tail.count(",") == 2
    assert re.fullmatch(r"[01] in \d of 6 launches", cells(session, "slowest rank")["adaptive"])


def test_the_slowest_rank_of_each_step_is_what_counts() -> None:
    steps = {0: np.array([1.0, 1, 1, 9]), 1: np.array([2.0, 2, 2, 2])}
    found = tail_columns([steps, steps, {0: np.array([1.0, 3, 5])}])
    assert found["slowest_rank"] == "1 in 2 of 3 launches"
    assert found["tail_max_s"] == 9.0 and found["tail_p95_s"] == np.percentile([2, 2, 2, 9, 2, 2, 2, 9, 1, 3, 5], 95)


def test_the_points_of_a_figure_say_what_they_are_worth(tmp_path: Path) -> None:
    def remarks(session: Path) -> dict[str, str]:
        evidence = Evidence(load([session]))
        (drawn,) = efficiency(evidence, "")
        table = Points(evidence.records, tmp_path, Choice()).table(drawn)
        return {row.cells[1].words: row.cells[-1].words for row in table.rows}

    assert remarks(made(tmp_path / "s")) == {"bare": "", "adaptive": ""}
    loose = changed_points(made(tmp_path / "loose"), "*adaptive*", converged=False, noise={"steal_s": 0.5})
    assert remarks(loose) == {"bare": "", "adaptive": "not converged; disturbed"}
    assert remarks(made(tmp_path / "few", launches=3)) == dict.fromkeys(("bare", "adaptive"), "no 95 % interval")


def test_the_points_of_other_studies_say_it_too(tmp_path: Path) -> None:
    points = [{"point": {"receivers": n}, "samples": {"latency_s": [1.0] * 3}} for n in (1, 4)]
    stolen = [{**point, "noise": {"steal_s": 1.0}} for point in points]
    session = study_session(tmp_path / "s", "one-to-many", {"idle": stolen, "bare-multiple": points})
    frame = summary(Evidence(load([session])), "one-to-many", "latency_s")
    shares = frame.groupby("variant")["disturbance"].max()
    assert shares["idle"] == pytest.approx(1 / 3)
    assert np.isnan(shares["bare-multiple"])


def test_what_a_figure_found_says_how_many_values_show_nothing_yet(tmp_path: Path) -> None:
    points = [{"point": {"receivers": n}, "samples": {"latency_s": [float(n)] * 3}} for n in (1, 4)]
    stolen = [{**point, "noise": {"steal_s": 1.0}} for point in points]

    def found(folder: Path, idle: list[dict[str, Any]], launches: int) -> str:
        session = study_session(folder, "one-to-many", {"idle": idle, "bare-multiple": points}, launches)
        return next(drawn.found for drawn in draw_all(Evidence(load([session])), "") if drawn.subject == "P8")

    assert " values " not in found(tmp_path / "good", points, 6)
    assert "Of 4 values 4 have no 95 % interval." in found(tmp_path / "few", points, 3)
    assert "Of 4 values 2 were disturbed." in found(tmp_path / "stolen", stolen, 6)
