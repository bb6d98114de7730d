# SPDX-License-Identifier: BSD-3-Clause
"""Plans survive their file, alternate their variants, and turn intentions into work."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from harness.job import calibrate
from harness.job.calibrate import Calibration
from harness.job.plan import Plan, Sampler, interleave, point_estimate_s
from harness.job.records import RecordFile
from harness.sessions.request import Request
from harness.sites import systems
from reframe_checks.catalogue import by_names


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


def test_calibration_takes_the_slowest_rank_and_comm_without_its_acknowledgement() -> None:
    comm = {"calibration": "comm", "size_bytes": 8}
    lines = [
        {"point": {"calibration": "unit"}, "rank": 0, "samples": {"unit_s": [3e-5, 2e-5, 2e-5]}},
        {"point": {"calibration": "unit"}, "rank": 1, "samples": {"unit_s": [5e-5, 9e-5, 4e-5]}},
        {"point": comm, "rank": 0, "samples": {"comm_s": [1.0, 9.0, 2.0], "ack_s": [0.5, 0.5, 0.7]}},
        {"point": comm, "rank": 1, "samples": {"comm_s": [5.0, 5.0, 5.0], "ack_s": [0.1]}},
    ]
    assert calibrate.from_record(RecordFile(points=lines), "mpich") == Calibration(5e-5, {"8": 1.5}, "mpich")


def test_a_busy_machine_gives_no_work_of_less_than_no_time() -> None:
    """There the acknowledgement's median can be longer than that of the whole."""
    point = {"size_bytes": 8, "work_units": 0}
    lines: list[dict[str, Any]] = [{"rank": 0, "point": {"calibration": "unit"}, "samples": {"unit_s": [1e-6]}}]
    lines += [{"rank": 0, "point": point, "samples": {"comm_s": [2e-5], "ack_s": [3e-5]}}]
    found = calibrate.from_record(RecordFile(points=lines), "mpich")
    assert found.with_work({"size_bytes": 8, "comp_over_comm": 1.0})["work_units"] == 20


def test_ranks_that_take_turns_on_a_cpu_have_longer_units() -> None:
    header = {"ranks": [{"host": f"vc{rank}", "cpus_allowed": [rank % 2]} for rank in range(4)]}
    assert calibrate.turns(RecordFile(header=header), cpus_shared=True) == 2.0
    assert calibrate.turns(RecordFile(header=header), cpus_shared=False) == 1.0
    free = {"ranks": [{"host": "here", "cpus_allowed": [0, 1]} for _ in range(2)]}
    assert calibrate.turns(RecordFile(header=free), cpus_shared=True) == 1.0
    lines = [{"point": {"calibration": "unit"}, "rank": 0, "samples": {"unit_s": [1e-3]}}]
    assert calibrate.from_record(RecordFile(points=lines), "", 2.0) == Calibration(2e-3, {})


def test_calibration_by_the_studys_own_points(tmp_path: Path) -> None:
    points = [{"collective": name, "size_bytes": 8, "comp_over_comm": r} for name in ("a", "b") for r in (0.5, 1.0)]
    options = calibrate.options(points, tmp_path / "p.json")
    assert options == ["--calibrate", f"--points={tmp_path / 'p.json'}"]
    alone = json.loads((tmp_path / "p.json").read_text())
    assert alone == [{"collective": name, "size_bytes": 8, "work_units": 0} for name in ("a", "b")]
    lines = [{"point": {"calibration": "unit"}, "rank": 0, "samples": {"unit_s": [1e-3]}}]
    for rank, times in enumerate(((1.0, 2.0), (3.0, 1.5))):
        for point, time in zip(alone, times, strict=True):
            lines.append({"point": point, "rank": rank, "samples": {"comm_s": [time]}})
    found = calibrate.from_record(RecordFile(points=lines), "mpich")
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
        request = Request(by_names(["collective-overlap"]), systems.by_name("simulated"), ["mpich"], [], nodes=nodes)
        return request.jobs()[0].launch_estimate_s()

    assert estimate(1024) > 100 * estimate(2) / 2
    assert estimate(1024) > 7 * 60, "an Ialltoall or Iallgather takes a minute or two, and it is no hang"
