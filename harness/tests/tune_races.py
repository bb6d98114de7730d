# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of ./bench tune share: a small race, and a run of one whose launches are made up."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from harness.job.launch import Attempt, Outcome
from harness.job.plan import Launch, Plan
from harness.job.race import Parameter, Race
from harness.job.runner import Runner

SPACE = [Parameter("burst", ["default", "1"], False), Parameter("UCX_TLS", ["default", "tcp"], True)]
POINTS = [{"pattern": "both", "size_bytes": 1024, "comp_over_comm": 1.0}]
RACE = Race(
    variant="adaptive", objective="efficiency", bounds={"inflation": 1.05}, minutes=5.0, search="tpe", seats=2,
    settle=3, confirm=12, space=SPACE, points=POINTS, untuned=[{**POINTS[0], "size_bytes": 2048}], reference=True,
)  # fmt: skip


def scheduled(race: Race) -> list[Launch]:
    """The launches of all blocks."""
    return [launch for block in race.in_rounds().schedule("x", 1) for launch in block]


def racing(plan: Plan, race: Race, **changes: Any) -> Plan:
    """The plan of the last block of a race."""
    return replace(plan, **{"rounds": race.in_rounds(), "launches": race.in_rounds().last("x", 1), **changes})


BOTH = {"burst": "1", "UCX_TLS": "tcp"}


def ran_to_the_end(runner: Runner, monkeypatch: pytest.MonkeyPatch, fails: str = "") -> Counter[tuple[str, str]]:
    """How often each arm ended how, where launches of `fails` fail."""

    def run(attempt: Attempt) -> Outcome:
        bad = attempt.launch.arm is not None and attempt.launch.arm.name == fails
        return Outcome(attempt.launch, "failed" if bad else "ok", "it crashed" if bad else "", 0.0)

    monkeypatch.setattr(Attempt, "run", run)
    monkeypatch.setattr(Runner, "_describe_nodes", lambda _: None)
    runner.run()
    return Counter((one.launch.arm.name, one.status) for one in runner.outcomes if one.launch.arm)
