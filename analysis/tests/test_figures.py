# SPDX-License-Identifier: BSD-3-Clause
"""Figures against pictures that somebody has looked at, and what every figure must have.

OVERLAP_BENCH_BASELINE=write .venv/bin/python -m pytest analysis/tests/test_figures.py     after a wanted change
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.testing.compare import compare_images
from PIL import Image

from analysis.claims.table import build
from analysis.evidence import Evidence
from analysis.figures import toolkit
from analysis.figures.render import figure_of, save
from analysis.figures.summary import summary
from analysis.figures.toolkit import Drawn
from analysis.metrics.times import LIMIT
from analysis.records import frames
from analysis.records.load import load
from analysis.report.findings import sections
from analysis.report.report import build_report
from analysis.studies.gemini import Runtime
from analysis.subject import draw_all
from analysis.tests.synthetic import LIMITED, MB, USUAL, Behaviour, Synthetic, edited, empty_session, write_launch
from analysis.tests.test_claims import study_session
from analysis.tests.test_compare import timed_out
from analysis.words import bytes_text, plain, seconds_text

BASELINE = Path(__file__).parent / "baseline"
TOLERANCE = 4.0  # root mean square of the difference of colours, of 255; another font renderer costs about 2
NAMES = ["overlap_efficiency-both", "overlap_map-send-time-both", "overlap_ratio-4mb", "send_time-both"]


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Drawn]:
    folder = tmp_path_factory.mktemp("figures")
    ompi = {
        "bare": Behaviour(0.11, 1.0),
        "mpi-async": Behaviour(0.1, fails="skipped"),
        "idle": Behaviour(0.3, 1.05, fails="timeout"),
        "adaptive": Behaviour(0.9, 1.1),
    }
    mpis = {"mpich": LIMITED, "openmpi": ompi}
    first = Synthetic(mpis=mpis, launches=3, samples=8, sizes=(MB // 16, 4 * MB)).write(folder / "first")
    sizes = (1, 16 << 10, MB, 8 * MB)
    second = Synthetic(
        mpis=mpis, study="send-time", sizes=sizes, comp_s=(0.0, 1e-4, 1e-3, 2e-2), launches=3, samples=8
    ).write(folder / "second")
    records = load([first, second])
    return {figure.name: figure for figure in draw_all(Evidence(records), toolkit.provenance(records))}


def render(figure: Drawn, path: Path) -> Path:
    with mpl.rc_context(toolkit.RC):
        figure_of(figure).savefig(path, dpi=60, metadata={"Software": None})
    return path


def changed(figure: Drawn, folder: Path) -> object:
    """How its picture differs from the one that is kept, None if not; OVERLAP_BENCH_BASELINE=write keeps it anew."""
    kept = BASELINE / f"{figure.name}.png"
    if os.environ.get("OVERLAP_BENCH_BASELINE") == "write":
        Image.open(render(figure, kept)).convert("RGB").quantize(dither=Image.Dither.NONE).save(kept, optimize=True)
    return compare_images(str(kept), str(render(figure, folder / "now.png")), TOLERANCE)


@pytest.mark.parametrize("name", [*NAMES[:1], *(pytest.param(name, marks=pytest.mark.full) for name in NAMES[1:])])
def test_pictures_are_as_they_were(drawn: dict[str, Drawn], name: str, tmp_path: Path) -> None:
    assert changed(drawn[name], tmp_path) is None


def test_every_figure_names_its_formula_and_its_data(drawn: dict[str, Drawn]) -> None:
    assert set(drawn) >= set(NAMES)
    for figure in drawn.values():
        assert "comp" in figure.caption
        assert "session first" in figure.caption
        assert "made up: nothing was sent" in figure.caption


def test_the_csv_holds_exactly_the_drawn_points(drawn: dict[str, Drawn], tmp_path: Path) -> None:
    figure = drawn["overlap_ratio-4mb"]
    paths = save(figure, tmp_path)
    table = pd.read_csv(paths["csv"])
    assert set(table["size_bytes"]) == {4 * MB}
    assert set(table["metric"]) == {"overlap_ratio"}
    assert set(table["variant"]) == set(LIMITED)
    assert set(table.loc[table["value"].isna(), "status"]) == {"skipped", "timeout"}
    assert paths["svg"].read_text().startswith("<?xml")


@pytest.mark.parametrize("name", ["overlap_ratio-4mb", "send_time-both", "overlap_efficiency-both"])
def test_the_limit_is_a_line_where_it_was_measured(drawn: dict[str, Drawn], name: str) -> None:
    """Too thin a line for the comparison of pictures to miss."""
    figure = drawn[name]
    measured = figure.points.loc[figure.points["variant"] == LIMIT, "value"].dropna()
    lines = [line for axes in figure_of(figure).axes for line in axes.lines]
    curves = [y for line in lines if line.get_marker() == toolkit.LIMIT["marker"] for y in np.asarray(line.get_ydata())]
    places = [np.asarray(line.get_xdata()) for line in lines]
    upright = {float(x[0]) for x in places if len(set(x)) == 1}
    assert len(measured) > 0
    assert sorted(measured) == sorted(curves) if curves else set(measured) <= upright


@pytest.mark.full
def test_a_map_has_the_limit_where_it_was_swept_as_the_others(tmp_path: Path) -> None:
    def rows(comp_s: tuple[float, ...], folder: Path) -> set[str]:
        sizes = (1, 16 << 10, MB, 8 * MB)
        made = Synthetic(mpis={"mpich": LIMITED}, study="send-time", sizes=sizes, comp_s=(1e-4, 1e-3, 2e-2), launches=2)
        session = made.write(folder)
        for file in (folder / "records").glob("*.limit.jsonl"):
            lines = file.read_text().splitlines(keepends=True)
            kept = [line for line in lines if json.loads(line).get("point", {}).get("comp_s", comp_s[0]) in comp_s]
            file.write_text("".join(kept))
        found = draw_all(Evidence(load([session])), "")
        (drawn_map,) = [figure for figure in found if figure.name.startswith("overlap_map")]
        return set(drawn_map.points["variant"])

    assert LIMIT in rows((1e-4, 1e-3, 2e-2), tmp_path / "whole")
    assert LIMIT not in rows((1e-3,), tmp_path / "once"), "a row of crosses says nothing"


def test_variants_differ_in_more_than_colour() -> None:
    looks = {(look.marker, str(look.line)) for look in toolkit.STYLES.values()}
    assert len(looks) == len(toolkit.STYLES)
    assert len({look.color for look in toolkit.STYLES.values() if look.strong}) == 3


SAID: dict[Callable[[Any], str], dict[Any, str]] = {
    bytes_text: {0: "0 B", 1: "1 B", 1024: "1 KB", 4 * MB: "4 MB", 80_000_000: "76.29 MB"},
    seconds_text: {0: "0", 2.5: "2.5 s", 5e-4: "500 µs", 0.0123: "12.3 ms", 1e-8: "10 ns"},
    plain: {-0.001: "0.00", -0.2: "−0.20", 0.935: "0.94", 1.0: "1.00"},
}


def test_sizes_times_and_numbers_in_words() -> None:
    assert {say: {value: say(value) for value in said} for say, said in SAID.items()} == SAID


MACHINE = {"nics": [{"name": "ib0", "driver": "mlx5_core"}], "cores": 8}
RNG = np.random.default_rng(3)


def samples(value: float, count: int = 20) -> list[float]:
    return [round(float(x), 9) for x in value * np.exp(RNG.normal(0, 0.01, count))]


def latency(variant_extra: float, **point: Any) -> dict[str, Any]:
    return {"point": {**point, "size_bytes": 1}, "samples": {"latency_s": samples(3e-5 + variant_extra)}}


SKIPPED = {"status": "skipped", "reason": "4 cores a node are needed and there are 1", "samples": {}}


@pytest.fixture(scope="module")
def periods(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Latency rises below a period of 10 µs, and one period could not be measured."""
    points = [latency(2e-6 / max(period, 0.5), period_us=period) for period in (0, 1, 10, 10000)]
    points.append({"point": {"period_us": 100, "size_bytes": 1}, **SKIPPED})
    folder = tmp_path_factory.mktemp("p") / "latency"
    return study_session(folder, "latency-idle-period", {"idle": points}, machine=MACHINE)


@pytest.fixture(scope="module")
def switches(tmp_path_factory: pytest.TempPathFactory) -> Path:
    def point(pending: bool, rate: float) -> dict[str, Any]:
        return {"point": {"pending": pending}, "samples": {"switches_per_s": [rate, rate + 1, rate + 2]}}

    measured = {"thread": [point(True, 250), point(False, 240)], "adaptive": [point(True, 60), point(False, -1)]}
    return study_session(tmp_path_factory.mktemp("s") / "switches", "context-switches", measured)


def drawn_of(session: Path) -> dict[str, Drawn]:
    return {figure.name: figure for figure in draw_all(Evidence(load([session])), "Data: made up.")}


def test_a_summary_has_every_point_and_every_statistic(periods: Path) -> None:
    frame = summary(Evidence(load([periods])), "latency-idle-period", "latency_s", ("min", "median"))
    assert len(frame) == 5 * 2
    best = frame[(frame["statistic"] == "min") & (frame["period_us"] == 10000)].iloc[0]
    median = frame[(frame["statistic"] == "median") & (frame["period_us"] == 10000)].iloc[0]
    assert best["value"] < median["value"] == pytest.approx(3e-5, rel=0.02)
    assert median["low"] <= median["value"] <= median["high"]
    skipped = frame[frame["period_us"] == 100]
    assert set(skipped["status"]) == {"skipped"}
    assert skipped["value"].isna().all()


def test_the_figure_holds_its_points_and_says_what_it_shows(periods: Path, tmp_path: Path) -> None:
    figure = drawn_of(periods)["latency_idle_period"]
    assert "half a round trip" in figure.caption
    assert "made up" in figure.caption
    assert figure.found.startswith("Latency by period")
    assert "MPICH" in figure.found
    files = save(figure, tmp_path)
    assert "skipped" in files["csv"].read_text()


@pytest.mark.parametrize(("session", "name"), [("periods", "latency_idle_period"), ("switches", "context_switches")])
def test_pictures_of_recorded_quantities_are_as_they_were(
    session: str, name: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    assert changed(drawn_of(request.getfixturevalue(session))[name], tmp_path) is None


def test_the_report_has_a_section_a_study_with_its_claims_decided(switches: Path, tmp_path: Path) -> None:
    evidence = Evidence(load([switches]))
    table = build(evidence.records)
    (section,) = sections(table, evidence, draw_all(evidence, ""))
    assert section.title.startswith("R2")
    assert "fewer context switches" in section.sentences[0]
    assert "reproduced" in section.sentences[0]
    assert section.drawn == [0]
    page = build_report([switches], tmp_path).path.read_text()
    assert "R2: context switches of adaptive and always-on threads" in page


def test_interference_shows_rate_and_latency_against_the_share_of_the_cpu(tmp_path: Path) -> None:
    def point(detection: str, share: float, rate: float, latency_s: float) -> dict[str, Any]:
        measured = {"mflops": [1000 * rate] * 3, "alone_mflops": [1000.0] * 3, "cpu_share": [share] * 3}
        return {
            "point": {"detection": detection, "placement": "same-core"},
            "samples": measured | {"latency_s": [latency_s] * 3},
        }

    points = [point("spin", 0.5, 0.5, 1e-3), point("sleep", 0.05, 0.95, 5e-5)]
    points.append({"point": {"detection": "mwait-c1", "placement": "same-core"}, **SKIPPED})
    session = study_session(tmp_path / "i", "interference", {"bare": points})
    figure = drawn_of(session)["interference-same-core"]
    assert figure.found == (
        "MPICH: spin 50 % of a CPU, rate 0.50, latency 1 ms; sleep 5 % of a CPU, rate 0.95, latency 50 µs."
    )
    assert "skipped" in save(figure, tmp_path)["csv"].read_text()
    assert "No value: mwait-c1 (4 cores a node are needed and there are 1)." in figure.caption


def test_a_collective_gains_against_the_best_of_its_own_mpi(tmp_path: Path) -> None:
    def total(broadcast_s: float, scatter_s: float) -> list[dict[str, Any]]:
        alike = {"pattern": "one-to-all", "size_bytes": 4 << 20, "comp_over_comm": 1.0}
        alone = {"comm_s": [0.2] * 3, "comp_s": [0.2] * 3}
        return [
            {"point": alike | {"collective": name}, "samples": alone | {"total_s": [seconds] * 3}}
            for name, seconds in (("ibcast", broadcast_s), ("iscatter", scatter_s))
        ]

    measured = {"bare": total(0.4, 0.25), "mpi-async": total(0.36, 0.5), "adaptive": total(0.18, 0.2)}
    session = study_session(tmp_path / "c", "collective-overlap", measured)
    figure = drawn_of(session)["collective_gain"]
    assert figure.points["value"].tolist() == pytest.approx([0.5, 0.8])
    assert "by ibcast 50 % (50 to 50), iscatter 20 % (20 to 20)" in figure.found
    assert "reached by: ibcast; missed by: iscatter." in figure.found
    assert "by the MPI itself (efficiency of bare at least 0.5): iscatter." in figure.found


def test_the_papers_best_is_reached_by_intervals_alone(tmp_path: Path) -> None:
    """Of medians that all lie below the paper's."""
    totals = {"ibcast": (0.20,) * 6, "iscatter": (0.15, 0.15, 0.2, 0.24, 0.3, 0.3), "igather": (0.18,) * 6}
    folder = empty_session(tmp_path / "c")
    for name, pattern in (("ibcast", "one-to-all"), ("iscatter", "one-to-all"), ("igather", "all-to-one")):
        point = {"pattern": pattern, "size_bytes": 4 << 20, "comp_over_comm": 1.0, "collective": name}
        for repetition, adaptive in enumerate(totals[name]):
            for variant, seconds in (("bare", 0.4), ("adaptive", adaptive)):
                samples = {"comm_s": [0.2] * 3, "comp_s": [0.2] * 3, "total_s": [seconds] * 3}
                line: dict[str, Any] = {"point": point, "samples": samples}
                if name == "igather":
                    line["noise"] = {"steal_s": 0.5}
                write_launch(folder, "collective-overlap", variant, f"mpich.{variant}{repetition}.{name}", [line])
    found = drawn_of(folder)["collective_gain"].found
    assert "reached by: ibcast; missed by: none; cannot tell: igather, iscatter." in found
    failing = timed_out(folder, "*adaptive*ibcast*", 6)
    assert "no value: ibcast." in drawn_of(failing)["collective_gain"].found


LAMMPS = "lammps-melt"


def figures(*sessions: Path) -> dict[str, Drawn]:
    return {drawn.name: drawn for drawn in draw_all(Evidence(load(sessions)), "made up")}


def whole(seconds: float, **more: Any) -> list[dict[str, Any]]:
    return [{"point": {"atoms": 32000}, "samples": {"elapsed_s": [seconds] * 3}, **more}]


def marks(axes: Axes) -> int:
    """How many points have a mark of a curve, and no cross."""
    return sum(
        int(np.isfinite(np.asarray(line.get_ydata(), float)).sum())
        for line in axes.lines
        if line.get_marker() not in ("None", "", "x")
    )


def of_both(folder: Path, study: str, **more: Any) -> list[Path]:
    """Two sessions with the same points; in the first adaptive failed."""
    failed = {"bare": USUAL["bare"], "adaptive": Behaviour(0.9, fails="failed")}
    good = {"bare": USUAL["bare"], "adaptive": USUAL["adaptive"]}
    return [
        Synthetic(mpis={"mpich": variants}, study=study, launches=2, samples=3, **more).write(folder / name)
        for name, variants in (("first", failed), ("second", good))
    ]


def test_two_sessions_of_one_budget_have_a_line_each(tmp_path: Path) -> None:
    sessions = [
        study_session(tmp_path / name, LAMMPS, {"bare": whole(1.0), "adaptive": whole(slow)})
        for name, slow in (("one", 1.1), ("two", 0.9))
    ]
    drawn = figures(*sessions)["third_party"]
    assert list(drawn.points["label"]) == ["lammps melt: atoms 32000, one", "lammps melt: atoms 32000, two"]
    assert marks(figure_of(drawn).axes[0]) == 2
    alone = figures(sessions[0])["third_party"]
    assert list(alone.points["label"]) == ["lammps melt: atoms 32000"]


def test_a_code_that_failed_has_a_cross_and_its_reason_and_a_disturbed_one_says_so(tmp_path: Path) -> None:
    bad = [{"point": {"atoms": 32000}, "status": "failed", "reason": "its result is wrong: 1"}]
    stolen = {"noise": {"steal_s": 1.0}}
    measured = {"bare": whole(1.0), "adaptive": whole(1.1, **stolen), "idle": bad}
    drawn = figures(study_session(tmp_path / "s", LAMMPS, measured))["third_party"]
    of = {row["variant"]: row for row in frames.rows(drawn.points)}
    assert np.isnan(of["idle"]["value"])
    assert (of["idle"]["status"], of["idle"]["reason"]) == ("failed", "its result is wrong: 1")
    assert of["adaptive"]["status"] == "ok"
    assert of["adaptive"]["reason"].startswith("the machine was disturbed: something else took ")
    assert any(line.get_marker() == "x" for line in figure_of(drawn).axes[0].lines)
    assert drawn.found == "Without a number: lammps melt: atoms 32000 on mpich (idle): its result is wrong: 1."


def test_codes_that_are_not_here_are_named_and_not_drawn(tmp_path: Path) -> None:
    study_session(tmp_path / "s", LAMMPS, {"bare": whole(1.0), "adaptive": whole(1.1)})
    missing = [{"point": {}, "status": "skipped", "reason": "not found"}]
    study_session(tmp_path / "s", "hpcg-small", {"bare": missing, "adaptive": missing}, mpi="openmpi")
    drawn = figures(tmp_path / "s")["third_party"]
    assert set(drawn.points["study"]) == {LAMMPS}
    assert "Skipped, the reasons are in the records: hpcg small." in drawn.found


@pytest.mark.parametrize(
    ("study", "name", "more", "points"),
    [
        ("overlap-ratio", "overlap_ratio-4mb", {"comp_over_comm": (0.25, 1.0, 4.0)}, 6),
        ("send-time", "send_time-both", {"comp_s": (1e-3,), "sizes": (MB // 4, MB)}, 4),
    ],
)
def test_a_figure_says_how_many_points_of_other_sessions_it_leaves_out(
    tmp_path: Path, study: str, name: str, more: dict[str, Any], points: int
) -> None:
    first, second = of_both(tmp_path, study, **more)
    drawn = figures(first, second)[name]
    assert len(drawn.points) == 2 * points
    assert f"{points} points of other sessions or settings are in the table alone." in drawn.caption
    assert marks(figure_of(drawn).axes[0]) == points, "adaptive's of the second session, for it failed in the first"
    assert "in the table alone" not in figures(second)[name].caption


def test_a_run_time_says_so_too(tmp_path: Path) -> None:
    runtime = Runtime("overlap-ratio", "Run time")
    (drawn,) = runtime(Evidence(load(of_both(tmp_path, "overlap-ratio"))), "made up")
    assert "6 points of other sessions or settings are in the table alone." in drawn.caption
    assert marks(figure_of(drawn).axes[0]) == 6


SWEPT: dict[str, Any] = {"sizes": (MB, 2 * MB, 4 * MB, 8 * MB), "comp_s": (1e-3, 1e-2, 5e-2)}


def test_two_sessions_have_a_map_each_and_none_of_their_middle(tmp_path: Path) -> None:
    drawn = figures(*of_both(tmp_path, "send-time", **SWEPT))
    maps = {name: figure for name, figure in drawn.items() if name.startswith("overlap_map")}
    assert set(maps) == {"overlap_map-send-time-both-first", "overlap_map-send-time-both-second"}
    for name, figure in maps.items():
        assert set(figure.points["session"]) == {name.rpartition("-")[2]}
        assert f"pattern both, {name.rpartition('-')[2]}: " in figure.caption
        assert "in the table alone" not in figure.caption


def test_a_map_says_how_many_settings_it_does_not_show(tmp_path: Path) -> None:
    _, session = of_both(tmp_path, "send-time", **SWEPT)
    for lines in edited(session, "*.001.adaptive.jsonl"):
        for line in lines[1:-1]:
            line["point"]["burst"] = 20
    drawn = figures(session)["overlap_map-send-time-both"]
    assert "12 points of other sessions or settings are in the table alone." in drawn.caption


def test_a_session_of_one_ratio_has_no_curve_over_it(tmp_path: Path) -> None:
    made = Synthetic(launches=2, samples=3, comp_over_comm=(1.0,)).write(tmp_path / "s")
    assert set(figures(made)) == {"overlap_efficiency-both"}
