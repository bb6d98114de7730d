# SPDX-License-Identifier: BSD-3-Clause
"""Figures of recorded quantities: what they hold against records whose truth is known, and against looked-at pictures.

OVERLAP_BENCH_BASELINE=write .venv/bin/python -m pytest analysis/tests/test_curves.py     after a wanted change
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.testing.compare import compare_images

from analysis import catalogue
from analysis.claims.table import build
from analysis.evidence import Evidence
from analysis.figures.summary import summary
from analysis.figures.toolkit import Drawn, save
from analysis.records.load import load
from analysis.report.findings import sections
from analysis.report.report import write_report
from analysis.tests.synthetic import end, header, write_lines
from analysis.tests.test_claims import study_session
from analysis.tests.test_compare_failures import timed_out
from analysis.tests.test_figures import BASELINE, TOLERANCE, render

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

    measured = {
        "thread": [point(True, 250), point(False, 240)],
        "adaptive": [point(True, 60), point(False, -1)],
    }
    return study_session(tmp_path_factory.mktemp("s") / "switches", "context-switches", measured)


def drawn_of(session: Path) -> dict[str, Drawn]:
    return {figure.name: figure for figure in catalogue.draw_all(Evidence(load([session])), "Data: made up.")}


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
def test_pictures_are_as_they_were(session: str, name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    expected = BASELINE / f"{name}.png"
    figure = drawn_of(request.getfixturevalue(session))[name]
    if os.environ.get("OVERLAP_BENCH_BASELINE") == "write":
        render(figure, expected)
    assert compare_images(str(expected), str(render(figure, tmp_path / "now.png")), tol=TOLERANCE) is None


def test_the_report_has_a_section_a_study_with_its_claims_decided(switches: Path, tmp_path: Path) -> None:
    evidence = Evidence(load([switches]))
    table = build(evidence.records)
    (section,) = sections(table, evidence, catalogue.draw_all(evidence, ""))
    assert section.title.startswith("R2")
    assert "fewer context switches" in section.sentences[0]
    assert "reproduced" in section.sentences[0]
    assert section.drawn == [0]
    page = write_report([switches], tmp_path).read_text()
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
    folder = tmp_path / "c"
    for name, pattern in (("ibcast", "one-to-all"), ("iscatter", "one-to-all"), ("igather", "all-to-one")):
        point = {"pattern": pattern, "size_bytes": 4 << 20, "comp_over_comm": 1.0, "collective": name}
        for repetition, adaptive in enumerate(totals[name]):
            for variant, seconds in (("bare", 0.4), ("adaptive", adaptive)):
                samples = {"comm_s": [0.2] * 3, "comp_s": [0.2] * 3, "total_s": [seconds] * 3}
                line: dict[str, Any] = {"point": point, "samples": samples, "rank": 0, "status": "ok"}
                if name == "igather":
                    line["noise"] = {"steal_s": 0.5}
                launch = f"mpich.{variant}{repetition}.{name}"
                context = {"study": "collective-overlap", "system": "s", "mpi": "mpich", "variant": variant}
                (folder / "records").mkdir(parents=True, exist_ok=True)
                write_lines(
                    folder / "records" / f"{launch}.jsonl",
                    [header({**context, "launch": launch}), line, end(variant)],
                )
    (folder / "session.json").write_text('{"session": "c"}')
    found = drawn_of(folder)["collective_gain"].found
    assert "reached by: ibcast; missed by: none; cannot tell: igather, iscatter." in found
    failing = timed_out(folder, "*adaptive*ibcast*", 6)
    assert "no value: ibcast." in drawn_of(failing)["collective_gain"].found
