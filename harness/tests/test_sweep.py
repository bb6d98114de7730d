# SPDX-License-Identifier: BSD-3-Clause
"""Settings of the engine as axes, what a system must have for a point, and which MPIs a study runs on."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from harness.base.errors import UsageError
from harness.job import records
from harness.job.plan import Launch, Plan
from harness.job.runner import Runner
from harness.sessions.request import Request
from harness.sites.systems import BUILTIN
from reframe_checks.catalogue import studies
from reframe_checks.study import Need, Parameter, Scale, Study, why_not

PERIODS = (1, 100)
SCALE = Scale(
    launches=2, grids=({"period_ms": PERIODS, "size_bytes": (8, 16)},), min_samples=1, max_samples=1, warmup=0,
    time_box_s=1, variants=("bare", "idle"), point_s=0.5, mpis=("openmpi",),
)  # fmt: skip
STUDY = Study(
    name="latency-idle-period", title="t", group="pioman", source="s", workload=("microbench", "latency"),
    parameters={
        "period_ms": Parameter("period", int, engine="idle_us", factor=1000),
        "size_bytes": Parameter("size", int),
    },
    scales={"quick": SCALE},
)  # fmt: skip


def request(**changes: object) -> Request:
    return replace(Request([STUDY], BUILTIN["vcluster"], ["mpich", "openmpi"], []), **changes)  # type: ignore[arg-type]


def test_each_setting_of_the_engine_has_launches_of_its_own() -> None:
    (job,) = request(all_mpis=False).jobs()
    assert job.mpi == "openmpi", "the scale names it"
    cells = sorted((launch.variant, *launch.engine) for launch in job.launches)
    assert cells == sorted(2 * [("bare",), ("idle", "idle_us=1000"), ("idle", "idle_us=100000")])
    for launch in job.launches:
        points = job.points_of(launch)
        assert [point["size_bytes"] for point in points] == [8, 16]
        assert {point.get("period_ms") for point in points} == {launch.fixed.get("period_ms")}
    assert job.estimate_s() == pytest.approx(6 * (0.5 + 2 * 0.5))


def test_any_engine_setting_can_be_swept_from_the_command_line() -> None:
    job, _ = request(settings={"timer_us": "70,80", "period_ms": "3"}).jobs()
    engines = {tuple(launch.engine) for launch in job.launches if launch.variant == "idle"}
    assert {frozenset(engine) for engine in engines} == {
        frozenset(("idle_us=3000", f"timer_us={timer}")) for timer in (70, 80)
    }
    job, _ = request(settings={"burst": "1,5", "rest_us": "0"}).jobs()  # no preset sets these
    engines = {tuple(launch.engine) for launch in job.launches if launch.variant == "idle"}
    assert {one for engine in engines for one in engine} >= {"burst=1", "burst=5", "rest_us=0"}
    with pytest.raises(UsageError, match="no parameter 'colour'"):
        request(settings={"colour": "7"}).jobs()


def test_what_the_engine_does_not_take_is_refused_before_anything_is_launched() -> None:
    for name, values, said in (
        ("timer_us", "70,7", "--set timer_us=70,7: the engine's timer_us is 10 to 1000000, not 7."),
        ("period_ms", "2000", "--set period_ms=2000: the engine's idle_us is 0 to 1000000, not 2000000."),
    ):
        with pytest.raises(UsageError, match=re.escape(said)):
            request(settings={name: values}).jobs()
    (job, _) = Request([studies()["harm-tasks-contention"]], BUILTIN["local"], ["mpich", "openmpi"], []).jobs()
    assert not any(launch.engine for launch in job.launches), "an axis of its own has the name of a setting"


def test_what_cannot_be_measured_here_is_a_record_that_says_why(plan: Plan, tmp_path: Path) -> None:
    """Also where no point is left to launch: nothing is started then, and nothing is missing."""
    reasons = [(point, "too small") for point in plan.points]
    assert Runner(replace(plan, impossible=reasons), tmp_path).run() == 0
    for launch in plan.launches:
        (path,) = records.attempts(tmp_path / "records", launch.identity)
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        assert [line["reason"] for line in lines[1:-1]] == ["too small", "too small"]
        assert lines[-1]["end"]["status"] == "skipped"
    before = len(list((tmp_path / "records").iterdir()))
    assert Runner(replace(plan, impossible=reasons), tmp_path).run() == 0
    assert len(list((tmp_path / "records").iterdir())) == before


def test_interference_runs_what_the_machine_offers_and_says_what_it_lacks() -> None:
    """A laptop of two cores: one hardware thread each, one socket."""
    needs = studies()["interference"].needs
    offered = {"detection": "futex", "placement": "same-core"}
    assert why_not(needs, offered, ["remote"], 2) == ""
    assert why_not(needs, offered, ["remote"], 1) == "2 cores a node are needed and there are 1"
    assert why_not(needs, offered, ["remote"], None) == "", "a system that does not say has enough"
    assert why_not((Need("remote"),), {}, [], 2) == "all ranks run on one node here"
    with pytest.raises(ValueError, match="no such feature"):
        Need("gpu")
    assert why_not(needs, {"detection": "mwait-c1", "placement": "smt-sibling"}, ["remote"], 2) == (
        "no core here has a second hardware thread; the CPU shows neither UMWAIT nor MWAITX here"
    )
    assert "one socket" in why_not(needs, {"detection": "spin", "placement": "other-socket"}, ["remote"], 2)
    assert "3 cores" in why_not(needs, {"detection": "spin", "placement": "same-l3"}, ["remote"], 2)


def test_variants_on_which_claims_are_decided_have_more_launches_unless_launches_are_set() -> None:
    study = studies()["overlap-ratio"]
    for settings, wanted in (({}, {"bare": 6, "thread": 1}), ({"launches": "2"}, {"bare": 2, "thread": 2})):
        scale = study.scale("quick", settings)
        assert Counter(launch.variant for launch in study.launches("s", scale, ["bare", "thread"], 1)) == wanted


def test_the_points_of_the_limit_have_axes_of_their_own() -> None:
    limited = replace(SCALE, variants=("bare", "idle", "limit"), limit={"wake_us": (500, 2000), "size_bytes": (8,)})
    (job,) = request(studies=[replace(STUDY, scales={"quick": limited})], all_mpis=False).jobs()
    wanted = [{"size_bytes": 8, "wake_us": 500}, {"size_bytes": 8, "wake_us": 2000}]
    for launch in job.launches:
        points = job.points_of(launch)
        assert (points == wanted) if launch.variant == "limit" else all("wake_us" not in point for point in points)
    assert sum(launch.variant == "limit" for launch in job.launches) == SCALE.launches


def test_the_intervals_of_the_limit_are_set_on_the_command_line() -> None:
    study = studies()["overlap-ratio"]
    assert study.scale("quick", {"wake_us": "700,900"}).limit["wake_us"] == (700, 900)
    with pytest.raises(UsageError, match="more than 0"):
        study.scale("quick", {"wake_us": "0,900"})


def test_a_study_whose_messages_only_mpi_moves_skips_the_limit(plan: Plan, tmp_path: Path) -> None:
    launch = Launch("s.000.limit", "limit", 0, 0)
    nothing = "true"  # in place of mpiexec, which would only describe the nodes
    platform = replace(plan.platform, launch_command=[nothing])
    Runner(replace(plan, launches=[launch], points=[{"size_bytes": 8}], platform=platform), tmp_path / "session").run()
    (record,) = (tmp_path / "session" / "records").glob("*.jsonl")
    assert {line["status"] for line in records.read(record).points} == {"skipped"}
    assert "moved by MPI alone" in records.read(record).points[0]["reason"]
