# SPDX-License-Identifier: BSD-3-Clause
"""Times are compared where the same work was done."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from analysis.claims.decision import Decision, decide
from analysis.claims.table import build
from analysis.evidence import Evidence, Value
from analysis.measures import Growth, Ratio
from analysis.records.load import load
from analysis.report.findings import sections
from analysis.report.points import Points
from analysis.report.report import pictures
from analysis.studies.ruhela import R1 as SUBJECT
from analysis.studies.ruhela import gains
from analysis.subject import draw_all, subjects
from analysis.tests.test_claims import study_session
from harness.base import paths

CLAIM = replace(SUBJECT.claims[0], requires=())
COMM = 0.04


def collectives(folder: Path, calibrated: dict[str, float]) -> Evidence:
    """MPICH gains with the engine, Open MPI is as fast by itself: adaptive is not better than the best other MPI.

    `calibrated`: MPI -> how much work its calibration took for what takes COMM. `bare` computes and then communicates.
    """
    for mpi, gain in (("mpich", 0.9), ("openmpi", 0.0)):
        comp = COMM * calibrated[mpi]
        serial = {"mpich": comp + COMM, "openmpi": comp + COMM / 10}[mpi]

        def points(total: float, comp: float = comp, work: float = calibrated[mpi]) -> list[dict[str, Any]]:
            point = {"pattern": "all-to-one", "collective": "ireduce", "size_bytes": 4 << 20, "comp_over_comm": 1.0}
            samples = {"total_s": [total] * 3, "comm_s": [COMM] * 3, "comp_s": [comp] * 3, "comp_in_s": [comp] * 3}
            return [{"point": {**point, "work_units": round(1000 * work)}, "samples": samples}]

        variants = {"bare": points(serial), "adaptive": points(serial - gain * min(comp, COMM))}
        study_session(folder, "collective-overlap", variants, mpi=mpi)
    return Evidence(load([folder]))


def decided(evidence: Evidence) -> dict[str, tuple[Decision, str, Value]]:
    values = CLAIM.measure(evidence, "collective-overlap")
    return {mpi: decide([value for value in values if value.mpi == mpi], CLAIM) for mpi in ("mpich", "openmpi")}


def test_with_one_common_work_the_best_other_mpi_is_compared(tmp_path: Path) -> None:
    found = decided(collectives(tmp_path / "s", {"mpich": 1.0, "openmpi": 1.0}))
    assert found["mpich"][0] is Decision.NOT_REPRODUCED
    assert found["mpich"][2].interval.value == pytest.approx(1.0), "44 ms with the engine, 44 ms on Open MPI"


def test_a_slowed_calibration_decides_nothing(tmp_path: Path) -> None:
    """Twice the work makes Open MPI look slow: MPICH with the engine would seem to beat the best other MPI."""
    found = decided(collectives(tmp_path / "s", {"mpich": 1.0, "openmpi": 2.0}))
    for mpi, other in (("mpich", "openmpi"), ("openmpi", "mpich")):
        decision, reason, value = found[mpi]
        assert decision is Decision.INCONCLUSIVE
        assert reason == f"the MPIs did different work ({other} not as much as {mpi}): their times cannot be compared"
        assert value.interval.value != value.interval.value, "no number that anybody could quote"


def test_one_mpi_alone_has_no_best_other(tmp_path: Path) -> None:
    points = collectives(tmp_path / "s", {"mpich": 1.0, "openmpi": 1.0}).records.points
    for name in points.loc[points["mpi"] == "openmpi", "launch"].unique():
        (tmp_path / "s" / "records" / f"{name}.jsonl").unlink()
    (value,) = CLAIM.measure(Evidence(load([tmp_path / "s"])), "collective-overlap")
    assert value.interval.value == pytest.approx(0.55), "a reader sees it; it decides nothing about other MPIs"
    assert decide([value], CLAIM)[:2] == (
        Decision.INCONCLUSIVE,
        "no MPI but mpich was measured: compared with its own modes alone",
    )


def test_the_table_keeps_the_point_and_says_why(tmp_path: Path) -> None:
    table = build(collectives(tmp_path / "s", {"mpich": 1.0, "openmpi": 2.0}).records)
    row = next(row for row in table.rows if row.claim == CLAIM.statement and row.mpi == "mpich")
    assert row.value is None
    assert "the paper's 1024 processes" in row.reason
    assert "the MPIs did different work" in row.reason
    assert "NaN" not in table.json()


@pytest.mark.parametrize("slowed", [1.0, 2.0])
def test_figures_do_not_compare_mpis_that_did_different_work(tmp_path: Path, slowed: float) -> None:
    evidence = collectives(tmp_path / "s", {"mpich": 1.0, "openmpi": slowed})
    found = gains(evidence).set_index("mpi")["value"]
    assert found["mpich"] == pytest.approx(0.044 / 0.08), "against the same MPI's own mode, whatever the other one did"
    drawn = {figure.name: figure for figure in draw_all(evidence, "")}
    warned = "did different work" in drawn["collective_overlap"].caption
    assert warned == (slowed != 1.0)
    assert ("did different work" in drawn["collective_overlap"].found) == warned
    assert sections(build(evidence.records), evidence, list(drawn.values()))


def test_launches_that_did_different_work_are_not_compared_either(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    for mpi, work in (("mpich", 1000), ("openmpi", 1000)):
        point = {"point": {"size_bytes": 8, "work_units": work}, "samples": {"total_s": [1.0]}}
        other = {"point": {"size_bytes": 8, "work_units": 2 * work}, "samples": {"total_s": [2.0]}}
        study_session(folder, "collective-overlap", {"adaptive": [point], "bare": [other]}, mpi=mpi)
    (value, _) = Ratio("total_s", "adaptive", "best own")(Evidence(load([folder])), "collective-overlap")
    assert "its launches did different amounts of work" in value.caveat


def test_growth_does_not_pool_other_parameters(tmp_path: Path) -> None:
    """Ten times the size takes ten times as long; the receivers do not matter."""
    points = [
        {"point": {"receivers": n, "size_bytes": size}, "samples": {"latency_s": [size * 1e-6]}}
        for size, counts in ((1, (1, 4)), (10, (1, 4, 16)))
        for n in counts
    ]
    session = study_session(tmp_path / "g", "one-to-many", {"idle": points})
    values = Growth("latency_s", "idle", "receivers")(Evidence(load([session])), "one-to-many")
    assert [value.interval.value for value in values] == [1.0, 1.0]
    assert [value.point for value in values] == ["receivers 1 to 4, 1 B", "receivers 1 to 16, 10 B"]


ROOT = Path(__file__).resolve().parents[2]
OLD = Path(__file__).parent / "old_sessions"  # schema-N.tar.xz: launches of a session whose records are of version N
# The engine's costs have no study; what a model had predicted has a page in place of figures, held by
# harness/tests/test_model_points.py.
SESSIONS = {
    str(folder.relative_to(paths.UNPACKED).relative_to(folder.relative_to(paths.UNPACKED).parts[0])): folder
    for kept in sorted((ROOT / "results" / "reference").glob(f"*{paths.SUFFIX}"))
    for folder in paths.sessions_of(kept)
    if (folder / paths.FACTS).exists() and not (folder / "costs").exists() and not folder.name.startswith("validation-")
}
# Some that are drawn in seconds; with --full all are.
SOME = ("demo", "gate-timer", "overlap/overlap-10gbit")


@pytest.mark.parametrize("version", [1, 2, 3])
def test_records_of_every_older_version_load(version: int) -> None:
    (folder,) = paths.sessions_of(OLD / f"schema-{version}{paths.SUFFIX}")
    lines = [file.open().readline() for file in (folder / "records").iterdir()]
    assert lines and all(f'"schema": {version}' in line or f'"schema":{version}' in line for line in lines)
    records = load([folder])
    assert not records.problems
    assert len(records.launches) == len(lines)
    assert set(records.launches["status"]) == {"ok"} and len(records.samples)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in SOME else pytest.mark.full) for name in SESSIONS]
)
def test_a_kept_session_loads_is_decided_and_draws(name: str) -> None:
    folder = SESSIONS[name]
    records = load([folder])
    assert not records.problems
    launches = records.launches
    between = launches["hosts"].map(lambda hosts: len(set(hosts)) != 1)
    crossed = launches[launches["network"].str.contains("tbf") & between]["launch"]
    short = records.points.get("size_bytes", 1 << 20) < 1 << 20
    assert not (short & records.points["launch"].isin(crossed)).any(), "that line did not limit them"
    evidence = Evidence(records)
    drawn = draw_all(evidence, "")
    compared = "bare" in set(launches["variant"])  # a gate's sides are held against each other
    assert drawn or not compared or not any(subject.figures for subject in subjects() if subject.recorded(records))
    table = build(records, evidence.metrics)
    assert any(row.session or row.reason for row in table.rows), "a claim has a number, or says why not"
    placed = [index for section in sections(table, evidence, drawn) for index in section.drawn]
    assert sorted(placed) == list(range(len(drawn))), "every figure stands under its study"
    points = Points(records, folder, evidence.choice)
    for picture in pictures(drawn, points):
        rows = picture["table"].rows
        assert picture["chart"].svg.count("<a href=") == len(rows) > 0
        assert all(row.files >= 0 for row in rows), f"{picture['name']}: every point has its raw records"
