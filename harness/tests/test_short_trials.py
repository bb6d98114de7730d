# SPDX-License-Identifier: BSD-3-Clause
"""Variables with which an MPI hangs: a race gives them a short trial, and goes on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from harness.base import process
from harness.job import read_back
from harness.job import runner as runner_module
from harness.job.launch import Attempt, Outcome, Watch
from harness.job.plan import Arm, Launch, Plan, Rounds
from harness.job.read_back import Probe
from harness.job.runner import Runner


@pytest.mark.parametrize(("took", "limit"), [(0.2, 5.0), (1.0, 10.0), (20.0, 30.0)])
def test_what_hangs_is_given_up_soon(tmp_path: Path, took: float, limit: float) -> None:
    """And not sooner on a machine whose launches take long."""
    limits: list[float] = []

    def launch(program: Sequence[str], log: Path, limit_s: float) -> process.Exit:
        limits.append(limit_s)
        log.write_text("X = 2\n")
        return process.Exit(None if "X=2" in program else 0, took, "")

    probe = Probe("X", "2", "ucx", "X")
    read_back.run([probe], launch, tmp_path, tmp_path, "m")
    assert limits == [30.0, limit]
    assert read_back.told(probe, tmp_path, "m") == (
        False, f"the MPI does not run with X=2: it did not end within {limit:.0f} s"
    )  # fmt: skip
    read_back.run([probe], launch, tmp_path, tmp_path, "m")
    assert len(limits) == 2, "once a session"


def test_an_mpi_that_does_not_run_as_it_is_is_not_asked_of_its_variables(tmp_path: Path) -> None:
    asked: list[Path] = []

    def launch(_program: Sequence[str], log: Path, _limit_s: float) -> process.Exit:
        asked.append(log)
        return process.Exit(1, 0.1, "")

    probes = [Probe(name, "1", "ucx", name) for name in ("X", "Y")]
    read_back.run(probes, launch, tmp_path, tmp_path, "m")
    assert len(asked) == 1
    assert read_back.told(probes[1], tmp_path, "m") == (
        False, "the MPI does not run as it is: it ended with status 1"
    )  # fmt: skip


def test_a_setting_with_which_the_mpi_hangs_costs_a_race_one_short_trial(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each variable alone was taken; what they do together is tried before it is measured."""
    trials: list[tuple[str, float]] = []

    def execute(_plan: Plan, arguments: list[str], _environment: dict[str, str], watch: Watch) -> process.Exit:
        given = [word for word in arguments if "=" in word]
        trials.append((" ".join(given), watch.timeout_s))
        said = {"x": "0", "y": "0"} | {word[0].lower(): word[2:] for word in given}
        watch.log.write_text("".join(f"{name} = {value}\n" for name, value in said.items()))
        return process.Exit(None if {"X=1", "Y=4"} <= set(arguments) else 0, 0.3, "")

    monkeypatch.setattr(runner_module, "execute", execute)
    monkeypatch.setattr(Attempt, "run", lambda attempt: Outcome(attempt.launch, "ok", "", 0.0))
    monkeypatch.setattr(Runner, "_describe_nodes", lambda _: None)
    arms = [Arm("default", "bare"), Arm("s001", "bare", environment={"X": "1", "Y": "4"})]
    arms.append(Arm("s002", "bare", environment={"Y": "4"}))
    launches = [Launch(f"s.{n}", "bare", n // 3, n, arm=arms[n % 3]) for n in range(6)]
    probes = [Probe("X", "1", "mpi_t", "x"), Probe("Y", "2", "mpi_t", "y")]
    rounds = Rounds(arms, [], drop={"default": [], "s001": ["s001"], "s002": ["s002"]})
    asked = replace(plan, points=[{"work_units": 5}], launches=launches, probes=probes, rounds=rounds)
    runner = Runner(asked, tmp_path)
    assert runner.run() == 1
    assert trials == [("", 30.0), ("X=1", 5.0), ("Y=2", 5.0), ("X=1 Y=4", 5.0), ("Y=4", 5.0)]
    assert [(one.launch.arm and one.launch.arm.name, one.status) for one in runner.outcomes] == [
        ("default", "ok"), ("s001", "failed"), ("s002", "ok"), ("default", "ok"), ("s001", "skipped"), ("s002", "ok"),
    ]  # fmt: skip
    why = "the MPI does not run with X=1 and Y=4: in a short trial it did not end within 5 s"
    assert [runner.outcomes[n].reason for n in (1, 4)] == [why, "not needed: s001 failed before"]
