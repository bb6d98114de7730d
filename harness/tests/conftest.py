# SPDX-License-Identifier: BSD-3-Clause
"""What the harness's tests share: plans, records such as a good launch leaves, results and nodes of their own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from harness.job.plan import Launch, Plan, Platform, Sampler, interleave
from harness.job.records import RecordFile
from harness.tests.compiler import program
from harness.tests.login_node import host
from harness.tests.sessions import mpich, results, state

__all__ = ["host", "mpich", "program", "results", "state"]  # fixtures

POINTS = [{"pattern": "both", "size_bytes": 1024, "comp_over_comm": ratio} for ratio in (0.5, 1.0)]


@pytest.fixture
def plan() -> Plan:
    """Two ranks on two virtual nodes, two variants, two launches of each."""
    platform = Platform(
        system="vcluster:compute",
        mpi="mpich",
        library="MPICH Version",
        launch_command=["mpiexec", "-n", "2"],
        tasks=2,
        nodes=2,
        progress_run="/nowhere/progress-run",
        cpus_shared=True,
    )
    return Plan(
        session="s",
        study="overlap-ratio",
        scale="test",
        seed=1,
        workload=["microbench", "overlap"],
        points=[dict(point) for point in POINTS],
        sampler=Sampler(3, 3, 1, 0.5),
        launches=interleave("overlap-ratio.vcluster.mpich", {"bare": 2, "adaptive": 2}, 1),
        platform=platform,
    )


def good_record(launch: Launch) -> RecordFile:
    """What a launch on two virtual nodes leaves when all is well."""
    preset, *settings = launch.variant.split(":")
    report = None if preset == "bare" else {"preset": preset, "active": True, "settings": _as_told(settings)}
    ranks = [{"rank": r, "host": f"vc{r + 1}", "cpus_allowed": [r], "clock_resolution_s": 1e-9} for r in (0, 1)]
    ends = [
        {
            "rank": r,
            "cpus_observed": [r],
            "interface_bytes": {"eth0": {"received": 9999, "sent": 9999}},
            "engine": report,
        }
        for r in (0, 1)
    ]
    header: dict[str, Any] = {"mpi_library": "MPICH Version: 5.0", "world_size": 2, "ranks": ranks}
    points = [
        {"point": dict(point), "rank": rank, "status": "ok", "samples": {"total_s": [1.0]}}
        for point in POINTS
        for rank in (0, 1)
    ]
    return RecordFile(header, points, {"status": "ok", "ranks": ends, "elapsed_s": 1.0})


def _as_told(settings: list[str]) -> dict[str, int]:
    return {name: int(value) for name, _, value in (setting.partition("=") for setting in settings)}


def on_another_platform(plan: Plan, **changes: Any) -> Plan:
    return replace(plan, platform=replace(plan.platform, **changes))
