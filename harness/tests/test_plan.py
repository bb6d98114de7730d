# SPDX-License-Identifier: BSD-3-Clause
"""Plans survive their file and alternate their variants; one calibration a session turns intentions into work."""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from analysis.studies.pioman import EQUAL_BOTH
from harness.base.errors import UsageError
from harness.base.mpis import WHEEL_MPIS
from harness.base.paths import ROOT
from harness.commands.begin import TOLD_OF, demo, estimate_s, fit
from harness.job import launch as launches
from harness.job import records
from harness.job.launch import Calibration
from harness.job.plan import Launch, Plan, Sampler, interleave, point_estimate_s
from harness.job.records import RecordFile
from harness.job.runner import Runner
from harness.job.session import Facts, Session
from harness.sessions import run
from harness.sessions.run import _open
from harness.sites import systems
from harness.sites.systems import BUILTIN, Request
from harness.tests.conftest import good_record, on_another_platform
from reframe_checks.catalogue import by_names
from reframe_checks.jobs import ENGINE_SETS
from reframe_checks.studies.shared import DEFENSIBLE


def test_a_plan_survives_its_file(plan: Plan, tmp_path: Path) -> None:
    assert plan.estimate_s() > plan.launch_estimate_s() > 0 and plan.timeout_s() > plan.launch_estimate_s()
    plan.save(tmp_path / "plan.json")
    assert Plan.load(tmp_path / "plan.json") == plan


def test_every_round_runs_every_variant_once() -> None:
    variants = ["bare", "off", "idle", "adaptive"]
    schedule = interleave("s", dict.fromkeys(variants, 5), seed=3)
    rounds = [schedule[start : start + 4] for start in range(0, 20, 4)]
    assert all(sorted(launch.variant for launch in one) == sorted(variants) for one in rounds)
    assert [launch.order for launch in schedule] == list(range(20))
    assert len({launch.identity for launch in schedule}) == 20
    assert len({tuple(launch.variant for launch in one) for one in rounds}) > 1, "the order must change"
    assert (
        schedule
        == interleave("s", dict.fromkeys(variants, 5), seed=3)
        != interleave("s", dict.fromkeys(variants, 5), 4)
    )


def test_a_variant_with_fewer_launches_is_spread_over_the_rounds() -> None:
    schedule = interleave("s", {"bare": 6, "thread": 2, "off": 1, "idle": 0}, seed=1)
    assert Counter(launch.variant for launch in schedule) == {"bare": 6, "thread": 2, "off": 1}
    assert [launch.repetition for launch in schedule if launch.variant == "thread"] == [0, 1]
    first, second = (place for place, launch in enumerate(schedule) if launch.variant == "thread")
    assert {launch.variant for launch in schedule[first + 1 : second]} == {"bare"}


def test_work_follows_the_intention() -> None:
    calibration = Calibration(unit_s=1e-5, comm_s={"1024": 0.002})
    assert calibration.with_work({"size_bytes": 1024, "comp_over_comm": 0.5})["work_units"] == 100
    assert calibration.with_work({"size_bytes": 7, "comp_s": 0.001})["work_units"] == 100
    assert "work_units" not in calibration.with_work({"size_bytes": 1024})
    asleep = Calibration(unit_s=3e-6, comm_s={}).with_work({"comp_s": 0.03, "compute": "sleep"})
    assert asleep["work_units"] == 30_000, "microseconds"


def test_work_is_that_of_the_point_that_all_are_held_against(plan: Plan) -> None:
    """rma-progress under `limit`: its target waits inside MPI, and no calibration is of that axis. Halos by messages
    and by a collective do the same work, or nobody could compare their times."""
    own = Launch("s.limit", "limit", 0, 0, own={"target": ["in-mpi"]})
    plan = replace(plan, same_work={"exchange": "messages"})
    point = {"exchange": "alltoallv", "size_bytes": 8, "comp_over_comm": 2.0, "target": "in-mpi"}
    reference = plan.reference(point, own)
    assert reference == {"exchange": "messages", "size_bytes": 8, "comp_over_comm": 2.0}
    calibration = Calibration(unit_s=1e-5, comm_s={launches.sent(reference): 0.002})
    assert calibration.with_work(point, reference) == point | {"work_units": 400}


def test_calibration_takes_the_slowest_rank_and_comm_without_its_acknowledgement() -> None:
    comm = {"calibration": "comm", "size_bytes": 8}
    lines = [
        {"point": {"calibration": "unit"}, "rank": 0, "samples": {"unit_s": [3e-5, 2e-5, 2e-5]}},
        {"point": {"calibration": "unit"}, "rank": 1, "samples": {"unit_s": [5e-5, 9e-5, 4e-5]}},
        {"point": comm, "rank": 0, "samples": {"comm_s": [1.0, 9.0, 2.0], "ack_s": [0.5, 0.5, 0.7]}},
        {"point": comm, "rank": 1, "samples": {"comm_s": [5.0, 5.0, 5.0], "ack_s": [0.1]}},
    ]
    assert Calibration.of_record(RecordFile(points=lines), "mpich") == Calibration(5e-5, {"8": 1.5}, "mpich")


def test_a_machine_on_which_something_else_runs_is_said() -> None:
    assert run.busy([3.0, run.BUSY]) == ""
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as spinning:
        said = run.busy(psutil.cpu_percent(run.LOOK_S, percpu=True))
        spinning.kill()
    assert "something else runs on" in said


def test_a_busy_machine_gives_no_work_of_less_than_no_time() -> None:
    """There the acknowledgement's median can be longer than that of the whole."""
    point = {"size_bytes": 8, "work_units": 0}
    lines: list[dict[str, Any]] = [{"rank": 0, "point": {"calibration": "unit"}, "samples": {"unit_s": [1e-6]}}]
    lines += [{"rank": 0, "point": point, "samples": {"comm_s": [2e-5], "ack_s": [3e-5]}}]
    found = Calibration.of_record(RecordFile(points=lines), "mpich")
    assert found.with_work({"size_bytes": 8, "comp_over_comm": 1.0})["work_units"] == 20


def test_ranks_that_take_turns_on_a_cpu_have_longer_units() -> None:
    header = {"ranks": [{"host": f"vc{rank}", "cpus_allowed": [rank % 2]} for rank in range(4)]}
    assert launches.cpu_turns(RecordFile(header=header), cpus_shared=True) == 2.0
    assert launches.cpu_turns(RecordFile(header=header), cpus_shared=False) == 1.0
    free = {"ranks": [{"host": "here", "cpus_allowed": [0, 1]} for _ in range(2)]}
    assert launches.cpu_turns(RecordFile(header=free), cpus_shared=True) == 1.0
    lines = [{"point": {"calibration": "unit"}, "rank": 0, "samples": {"unit_s": [1e-3]}}]
    assert Calibration.of_record(RecordFile(points=lines), "", 2.0) == Calibration(2e-3, {})


def test_calibration_by_the_studys_own_points(tmp_path: Path) -> None:
    points = [{"collective": name, "size_bytes": 8, "comp_over_comm": r} for name in ("a", "b") for r in (0.5, 1.0)]
    options = Calibration.options(points, tmp_path / "p.json")
    assert options == ["--calibrate", f"--points={tmp_path / 'p.json'}"]
    alone = json.loads((tmp_path / "p.json").read_text())
    assert alone == [{"collective": name, "size_bytes": 8, "work_units": 0} for name in ("a", "b")]
    lines = [{"point": {"calibration": "unit"}, "rank": 0, "samples": {"unit_s": [1e-3]}}]
    for rank, times in enumerate(((1.0, 2.0), (3.0, 1.5))):
        for point, time in zip(alone, times, strict=True):
            lines.append({"point": point, "rank": rank, "samples": {"comm_s": [time]}})
    found = Calibration.of_record(RecordFile(points=lines), "mpich")
    assert [found.with_work(point)["work_units"] for point in points] == [1500, 3000, 1000, 2000]


def test_a_batch_takes_as_long_as_its_messages() -> None:
    sampler = Sampler(3, 5, 1, 0.5)
    small, batch, large = (
        {"size_bytes": size, "round_trips": trips} for size, trips in ((1, 1), (1, 200), (1 << 20, 200))
    )
    one, many, most = (point_estimate_s(point, sampler) for point in (small, batch, large))
    assert one < many < sampler.time_box_s < most


def test_of_a_simulation_the_ranks_are_what_takes_time() -> None:
    def estimate(nodes: int) -> float:
        request = Request.of(by_names(["collective-overlap"]), systems.by_name("simulated"), ["mpich"], [], nodes=nodes)
        return request.jobs()[0].launch_estimate_s()

    assert estimate(1024) > 100 * estimate(2) / 2
    assert estimate(1024) > 7 * 60, "an Ialltoall or Iallgather takes a minute or two, and it is no hang"


# A workload of the given speed: leaves the given record with the points that it was asked for. With a folder to meet
# in it ends a calibration only when a second job calibrates there.
PROGRAM = """
import json, os, pathlib, sys, time
given, meet, slow = pathlib.Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])
options = dict(a.partition("=")[::2] for a in sys.argv[4:])
header, *_, end = map(json.loads, given.read_text().splitlines())
header["header"]["context"] = json.loads(pathlib.Path(options["--context"]).read_text())
header["header"]["asked"] = sys.argv[4:]
if "--calibrate" in options:
    parts = {"unit_s": {"calibration": "unit"}, "comm_s": {"calibration": "comm", "size_bytes": 1024}}
    points = [(point, {name: [slow * (1e-6 if name == "unit_s" else 1e-3 * slow)]}) for name, point in parts.items()]
    if meet:
        pathlib.Path(meet, str(os.getpid())).touch()
        while len(os.listdir(meet)) < 2:
            time.sleep(0.01)
else:
    points = [(point, {"total_s": [slow]}) for point in json.loads(pathlib.Path(options["--points"]).read_text())]
lines = [{"point": p, "rank": rank, "status": "ok", "samples": s} for p, s in points for rank in (0, 1)]
pathlib.Path(options["--output"]).write_text("".join(json.dumps(line) + "\\n" for line in [header, *lines, end]))
"""


def job(plan: Plan, tmp_path: Path, mpi: str, slow: float, meet: str = "") -> Plan:
    """A job of `mpi` whose times are `slow` times, and comm alone `slow` squared times, those of the others."""
    launches = interleave(f"overlap-ratio.vcluster.{mpi}", {"bare": 2}, 1)
    given = tmp_path / "given.jsonl"
    records.write(given, good_record(launches[0]))
    workload = [sys.executable, "-c", PROGRAM, str(given), meet, str(slow)]
    here = on_another_platform(plan, mpi=mpi, launch_command=[], reap=[sys.executable, "-c", ""])
    return replace(here, workload=workload, launches=launches)


def headers_and_work(session: Path, mpi: str) -> tuple[list[dict[str, Any]], dict[float, set[int]]]:
    """The contexts of this MPI's launches, and the work that they did by its intention."""
    contexts: list[dict[str, Any]] = []
    work: dict[float, set[int]] = {}
    for path in sorted((session / "records").glob(f"*.{mpi}.*.jsonl")):
        record = records.read(path)
        contexts.append((record.header or {})["context"])
        for line in record.points:
            work.setdefault(line["point"]["comp_over_comm"], set()).add(line["point"]["work_units"])
    return contexts, work


@pytest.mark.parametrize("slow", ["mpich", "openmpi"])
def test_a_calibration_that_was_slow_changes_the_work_of_no_mpi_against_another(
    plan: Plan, tmp_path: Path, slow: str
) -> None:
    session = tmp_path / "session"
    for mpi in ("mpich", "openmpi"):
        assert Runner(job(plan, tmp_path, mpi, 3.0 if mpi == slow else 1.0), session).run() == 0
    (_, first), (_, second) = (headers_and_work(session, mpi) for mpi in ("mpich", "openmpi"))
    assert first == second == ({0.5: {1500}, 1.0: {3000}} if slow == "mpich" else {0.5: {500}, 1.0: {1000}})
    contexts, _ = headers_and_work(session, "openmpi")
    assert {(context["mpi"], context["calibrated_on"]) for context in contexts} == {("openmpi", "mpich")}


@pytest.mark.parametrize(("scale", "short"), [("test", True), ("quick", False)])
def test_where_nothing_is_claimed_a_calibration_is_as_short_as_a_point(
    plan: Plan, tmp_path: Path, scale: str, short: bool
) -> None:
    assert Runner(replace(job(plan, tmp_path, "mpich", 1.0), scale=scale), tmp_path / "session").run() == 0
    record = records.read(tmp_path / "session" / "calibration" / "overlap-ratio.vcluster.mpich.calibration.jsonl")
    assert record.header
    assert (f"--max-samples={plan.sampler.max_samples}" in record.header["asked"]) is short


def test_two_jobs_that_calibrate_at_the_same_time_take_the_first_ones(plan: Plan, tmp_path: Path) -> None:
    session, meet = tmp_path / "session", tmp_path / "meet"
    meet.mkdir()
    running = []
    for mpi, slow in (("mpich", 1.0), ("openmpi", 3.0)):
        job(plan, tmp_path, mpi, slow, str(meet)).save(tmp_path / f"{mpi}.json")
        command = [sys.executable, "-m", "harness.job.runner", str(tmp_path / f"{mpi}.json"), str(session)]
        running.append(subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL))
    try:
        assert [process.wait(120) for process in running] == [0, 0]
    finally:
        for process in running:
            process.terminate()
    (contexts, first), (others, second) = (headers_and_work(session, mpi) for mpi in ("mpich", "openmpi"))
    assert first == second
    (on,) = {context["calibrated_on"] for context in contexts + others}
    assert first[1.0] == {1000 if on == "mpich" else 3000}
    assert sorted(path.name for path in (session / "calibration").iterdir()) == [
        "overlap-ratio.vcluster.json",
        "overlap-ratio.vcluster.mpich.calibration.jsonl",
        "overlap-ratio.vcluster.openmpi.calibration.jsonl",
    ]


def test_the_first_calibration_stays_and_a_damaged_one_does_not(tmp_path: Path) -> None:
    kept, first, second = tmp_path / "c.json", Calibration(1e-5, {"64": 0.1}, "a"), Calibration(2e-5, {"64": 0.2}, "b")
    assert Calibration.load(kept) is None
    assert first.publish(kept) == Calibration.load(kept) == first
    assert second.publish(kept) == Calibration.load(kept) == first
    for damaged in ('{"unit_s": 1', "[]", '{"unit_s": 1, "comm_s": 2}'):
        kept.write_text(damaged)
        assert Calibration.load(kept) is None
    assert second.publish(kept) == Calibration.load(kept) == second
    assert [path.name for path in tmp_path.iterdir()] == ["c.json"]
    found = [Calibration(unit, {"1024": comm}, "mpich") for unit, comm in ((1e-6, 3e-3), (3e-6, 1e-3), (2e-6, 2e-3))]
    assert Calibration.middle(found) == Calibration(2e-6, {"1024": 2e-3}, "mpich")


def test_a_session_like_another_does_its_work(plan: Plan, tmp_path: Path) -> None:
    base, again = (Session(tmp_path / name, Facts(name, "now", "running")) for name in ("base", "again"))
    assert Runner(job(plan, tmp_path, "mpich", 1.0), base.path).run() == 0
    again.folders.make()
    again.take_work(base)
    assert Runner(job(plan, tmp_path, "openmpi", 3.0), again.path).run() == 0
    contexts, work = headers_and_work(again.path, "openmpi")
    assert work == headers_and_work(base.path, "mpich")[1]
    assert contexts[0]["calibrated_on"] == "mpich"


def test_work_taken_from_a_session_that_calibrated_each_mpi_is_done_again(plan: Plan, tmp_path: Path) -> None:
    session = tmp_path / "session"
    kept = session / "calibration" / "overlap-ratio.vcluster.mpich.json"
    kept.parent.mkdir(parents=True)
    kept.write_text('{"unit_s": 1e-6, "comm_s": {"1024": 0.007}}')
    assert Runner(job(plan, tmp_path, "mpich", 1.0), session).run() == 0
    contexts, work = headers_and_work(session, "mpich")
    assert work[1.0] == {7000}
    assert "calibrated_on" not in contexts[0]


def test_a_calibration_of_other_points_is_named(plan: Plan, tmp_path: Path) -> None:
    session = tmp_path / "session"
    (session / "calibration").mkdir(parents=True)
    Calibration(1e-6, {"64": 0.1}, "mpich").publish(session / "calibration" / "overlap-ratio.vcluster.json")
    assert Runner(job(plan, tmp_path, "mpich", 1.0), session).run() == 1
    reasons = {line["reason"] for path in (session / "records").iterdir() for line in records.read(path).points}
    assert reasons == {"overlap-ratio.vcluster.json is of other points, it lacks '1024': take a new session"}


def test_a_session_is_not_resumed_on_another_network() -> None:
    other = systems.Opened(list, "of htb")
    system = replace(BUILTIN["local"], open=lambda _nodes: contextlib.nullcontext(other))
    session: Any = SimpleNamespace(name="s", facts=SimpleNamespace(network="of tbf"))
    with contextlib.ExitStack() as stack, pytest.raises(UsageError, match=r"of tbf\. Now there is: of htb"):
        _open(Request.of(by_names(["overlap-ratio"]), system, ["mpich"], ["bare"]), session, stack)


DEFAULT_MINUTES: float = inspect.signature(demo).parameters["minutes"].default


def measured(request: Request) -> int:
    return sum(len(job.points_of(launch)) for job in request.jobs() for launch in job.launches)


def decides(points: list[dict[str, Any]]) -> bool:
    """Whether the point that the claims are about is among them; limit's has an interval between wakes as well."""
    return any(EQUAL_BOTH.items() <= point.items() for point in points)


@pytest.mark.parametrize("minutes", [DEFAULT_MINUTES, 2, 15])
def test_a_demo_fits_its_time_and_decides_its_claims(minutes: float) -> None:
    request = fit(BUILTIN["vcluster"], minutes * 60)
    assert estimate_s(request) <= minutes * 60
    jobs = {job.mpi: job for job in request.jobs()}
    assert list(jobs) == list(WHEEL_MPIS)
    for job in jobs.values():
        launches = Counter(launch.variant for launch in job.launches if decides(job.points_of(launch)))
        assert min(launches["bare"], launches["adaptive"], launches["limit"]) >= DEFENSIBLE
        assert {*TOLD_OF} <= set(launches) <= {*job.scale.variants}


def test_more_time_is_never_less_measured() -> None:
    sizes = [measured(fit(BUILTIN["vcluster"], 60 * minutes)) for minutes in (DEFAULT_MINUTES, 2, 5)]
    assert sizes == sorted(sizes)


def test_the_library_for_offload_is_built_where_a_launch_may_ask_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(ENGINE_SETS)]:
        monkeypatch.delenv(name)
    request = fit(BUILTIN["vcluster"], 60 * DEFAULT_MINUTES)
    assert not request.may_offload()
    assert request.but(variants=["bare", "offload"]).may_offload()
    assert request.but(variants=["bare", "adaptive:safety=offload"]).may_offload()
    monkeypatch.setenv("PROGRESS_ENGINE_SAFETY", "offload")
    assert request.may_offload()
