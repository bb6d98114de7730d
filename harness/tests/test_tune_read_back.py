# SPDX-License-Identifier: BSD-3-Clause
"""./bench tune: what an MPI prints shows whether it took a variable, and what is not taken is not confirmed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from harness.base import process
from harness.base.errors import Failure
from harness.job import read_back
from harness.job.plan import Arm, Launch, Plan
from harness.job.race import Parameter
from harness.job.read_back import Probe
from harness.job.runner import Runner
from harness.job.session import Facts, Session
from harness.sessions import tuning
from harness.tests.tune_races import RACE, SPACE, racing, ran_to_the_end

OUTPUTS = {
    ("mpi_t", "btl_tcp_links = 4"): (True, "is 4 with it and 1 without"),
    ("mpi_t", "btl_tcp_links = 1"): (False, "is 1 with it and without"),
    ("mpi_t", "btl_tcp_links = 2"): (False, "is 2, and 4 was asked for"),
    ("mpi_t", "btl_tcp_links = four"): (True, "is four with it and 1 without"),
    ("mpi_t", "btl_tcp_links = 10.0.0.1"): (True, "is 10.0.0.1 with it and 1 without"),  # points, and no number
    ("mpi_t", "btl_tcp_links: unknown"): (False, "has no control variable"),
    ("ucx", "UCX  INFO  UCX_* env variables: UCX_TLS=tcp X=4"): (True, "among what it uses"),
    ("ucx", "UCX  WARN  unused environment variable: X (maybe: Y?)"): (False, "unused"),
    ("ucx", "nothing"): (False, "does not name it"),
    ("ofi", "X = 4"): (True, "libfabric: X=4"),
    ("ofi", "X: not set"): (False, "no provider"),
    ("ofi", "X: no libfabric\nlibfabric:1::tcp:core:fi_param_get_():1<info> read int var btl_tcp_links=4"): (True, "="),
    ("ofi", "libfabric:1::tcp:core:fi_param_get_():1<info> variable btl_tcp_links=<not set>"): (False, "no provider"),
    ("ofi", "read nothing"): (False, "no provider"),
    ("intel", "[0] MPI startup(): X=4"): (True, "X=4"),
    ("cray", "PE 0:   X                = 4"): (True, "X=4"),
    ("mvapich2", "    X              : 4"): (True, "X=4"),
    ("psm2", "X   a meaning => 4 (default was 2)"): (True, "X=4"),
    ("psm2", "X  Recv thread flags (0 disables thread)   => 0x4 (default was 0x1)"): (True, "X=0x4"),
    ("psm2", "X  Recv thread flags (0 disables thread)   => 0x1"): (False, "X=0x1"),
    ("psm2", ""): (False, "does not print it"),
}


@pytest.mark.parametrize("case", OUTPUTS)
def test_what_an_mpi_prints_shows_whether_it_took_a_variable(case: tuple[str, str], tmp_path: Path) -> None:
    how, output = case
    probe = Probe("X", "4", how, "btl_tcp_links")
    read_back.log_of(tmp_path, "m", None).write_text("btl_tcp_links = 1\nread-back: ended with status 0\n")
    read_back.log_of(tmp_path, "m", probe).write_text(f"{output}\nread-back: ended with status 0\n")
    taken, why = read_back.told(probe, tmp_path, "m")
    assert taken is OUTPUTS[case][0] and OUTPUTS[case][1] in why


GOOD_END = "read-back: ended with status 0\n"


def asked(logs: Path, **answers: str) -> Path:
    """Logs in which MPI_T says of a variable x what it is: as it is 1, and with X=value as `answers` have it."""
    logs.mkdir(parents=True, exist_ok=True)
    read_back.log_of(logs, "mpich", None).write_text(f"x = {answers.pop('alone', '1')}\n{GOOD_END}")
    for value, said in answers.items():
        probe = Probe("X", value.strip("_"), "mpi_t", "x")
        read_back.log_of(logs, "mpich", probe).write_text(f"x = {said}\n{GOOD_END}")
    return logs


def test_what_the_mpi_has_anyway_shows_nothing_and_the_next_value_is_asked(tmp_path: Path) -> None:
    one = Probe("X", "1", "mpi_t", "x", ["4"])
    logs = asked(tmp_path / "logs", _1="1", _4="4")
    assert read_back.told(one, logs, "mpich") == (True, "MPI_T: x is 4 with it and 1 without")
    alone = replace(one, others=[])
    assert read_back.told(alone, logs, "mpich") == (False, "MPI_T: x is 1 with it and without")
    assert read_back.doubts([alone], logs, "mpich") == [], "it runs with the value that somebody chose"
    hangs = read_back.log_of(logs, "mpich", alone)
    hangs.write_text("x = 1\nread-back: did not end within 5 s\n")
    assert "does not run with X=1: it did not end" in read_back.doubts([alone], logs, "mpich")[0]


def test_a_value_that_had_a_short_trial_is_still_asked_when_it_wins(tmp_path: Path) -> None:
    """A trial shows that the MPI runs with it, and not that it was taken."""

    def launch(program: Sequence[str], log: Path, _limit_s: float) -> process.Exit:
        given = dict(word.split("=", 1) for word in program if "=" in word)
        log.write_text(f"x = {given.get('X', '1')}\n" if "x" in program else "none: unknown\n")
        return process.Exit(0, 0.1, "")

    first, winner = Probe("X", "2", "mpi_t", "x"), Probe("X", "4", "mpi_t", "x")
    read_back.run([first], launch, tmp_path, tmp_path, "m")
    assert read_back.against({"X": "4"}, launch, tmp_path, tmp_path, "m") == ""
    read_back.run([first, winner], launch, tmp_path, tmp_path, "m")
    assert read_back.told(winner, tmp_path, "m") == (True, "MPI_T: x is 4 with it and 1 without")


def test_each_value_has_a_log_of_its_own(tmp_path: Path) -> None:
    """Else one would be said to be taken by the answer of another."""
    values = ("^tcp", "_tcp", "a.b", "a:b", "a_b", "x" * 200, "x" * 201)
    logs = {read_back.log_of(tmp_path, "m", Probe("X", value, "ucx", "X")) for value in values}
    assert len(logs) == len(values) and all(len(log.name) < 140 for log in logs)


def test_a_winner_may_have_a_value_that_the_mpi_has_anyway(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It runs with it; what won is perhaps another value of the same setting."""
    asked(tmp_path / "logs", _1="1")
    launch = Launch("s.0", "bare", 0, 0, arm=Arm("confirm.tuned", "bare", environment={"X": "1"}))
    probes = [Probe("X", "1", "mpi_t", "x")]
    runner = Runner(replace(plan, points=[{"work_units": 5}], launches=[launch], probes=probes), tmp_path)
    assert ran_to_the_end(runner, monkeypatch) == {("confirm.tuned", "ok"): 1}


def test_the_winners_own_values_are_asked_and_one_that_is_not_taken_is_not_confirmed(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    axis = Parameter("UCX_TLS", ["default", "tcp", "self"], True)
    race = replace(RACE, space=[axis], points=[], untuned=[], probes=[Probe("UCX_TLS", "tcp", "ucx", "UCX_TLS")])
    race = tuning.with_confirmation(tuning.with_probes(
        tuning.with_block(race, [], [{"UCX_TLS": "self"}]), "s001"), "s001")  # fmt: skip
    logs = tmp_path / "logs"
    logs.mkdir()
    said = {None: "", "tcp": "UCX_* env variables: UCX_TLS=tcp\n", "self": "unused environment variable: UCX_TLS\n"}
    for value, text in said.items():
        probe = Probe("UCX_TLS", value, "ucx", "UCX_TLS") if value else None
        read_back.log_of(logs, "mpich", probe).write_text(text + GOOD_END)
    taken = tuning.taken(race, Session(tmp_path, Facts("s", "now", "running")), "mpich")
    assert taken == {"UCX_TLS": (False, "UCX calls it unused")}, "what is written is of the value that is written"

    points = [{"pattern": "both", "size_bytes": 1024, "work_units": 5}]
    runner = Runner(racing(plan, race, points=points, probes=race.probes), tmp_path)
    found = ran_to_the_end(runner, monkeypatch)
    assert found["confirm.tuned", "failed"] == 1 and not found["confirm.tuned", "ok"]
    (why,) = {one.reason for one in runner.outcomes if one.status == "failed"}
    assert why == "the MPI is not shown to take UCX_TLS=self: UCX calls it unused"


def test_a_probe_runs_with_its_variable_and_one_that_breaks_the_mpi_is_named(plan: Plan, tmp_path: Path) -> None:
    tool = tmp_path / "bin" / read_back.PROGRAM
    tool.parent.mkdir()
    tool.write_text('#!/bin/sh\n[ "$BAD" = 1 ] && exit 3\nfor name; do echo "$name = ${X:-1}"; done\n')
    tool.chmod(0o755)
    probes = [Probe("X", "4", "mpi_t", "x_of_mpi"), Probe("BAD", "1", "mpi_t", "bad"), Probe("Y", "1", "", "Y")]
    here = replace(plan.platform, launch_command=[], progress_run=str(tool.parent / "progress-run"), reap=["true"])
    runner = Runner(replace(plan, platform=here, probes=probes, launches=[]), tmp_path / "session")
    assert runner.run() == 0
    logs = tmp_path / "session" / "logs"
    assert read_back.told(probes[0], logs, "mpich") == (True, "MPI_T: x_of_mpi is 4 with it and 1 without")
    assert read_back.told(probes[1], logs, "mpich") == (
        False, "the MPI does not run with BAD=1: it ended with status 3"
    )  # fmt: skip
    assert not read_back.told(probes[2], logs, "mpich")[0]
    session = Session(tmp_path / "session", Facts("s", "now", "running"))
    axes = [*SPACE, Parameter("X", ["default", "4"], True)]
    race = replace(RACE, space=axes, probes=[*probes, Probe("UCX_TLS", "tcp", "", "UCX_TLS")])
    left = tuning.without_untaken(race, tuning.taken(race, session, "mpich"))
    assert [axis.name for axis in left.space] == ["burst", "X"]
    with pytest.raises(Failure, match="No variable is shown to have taken effect"):
        only = replace(race, space=[SPACE[1]])
        tuning.without_untaken(only, tuning.taken(only, session, "mpich"))
