# SPDX-License-Identifier: BSD-3-Clause
"""./bench tune: how a search runs, stops, goes on and ends, who is out where launches failed; and variables with which
an MPI hangs get a short trial."""

from __future__ import annotations

import contextlib
import errno
import importlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from analysis.tuning.search_records import Measured, SearchPlan
from harness.base import process
from harness.base.errors import Failure, UsageError
from harness.cli import main
from harness.commands.run import resume_session
from harness.commands.tune import all_measured, unmeasured
from harness.job import read_back, records
from harness.job import runner as runner_module
from harness.job.launch import Attempt, Outcome, Watch, context
from harness.job.plan import Launch, Plan, Rounds, Side
from harness.job.read_back import Probe
from harness.job.runner import CalibrationError, Runner
from harness.job.search import DEFAULT, REFERENCE, Parameter, Search
from harness.job.session import Facts, Session
from harness.sessions import run as runs
from harness.sessions import tuning
from harness.sites.systems import BUILTIN, Request, from_facts
from reframe_checks.catalogue import by_names


def facts_of(search: Search) -> dict[str, Any]:
    return Request.of(by_names(["overlap-ratio"]), BUILTIN["local"], ["mpich"], ["adaptive"], search=search).facts()


@pytest.mark.parametrize(
    ("points", "end", "again"),
    [("wrong data", "wrong data", False), ("", "exit status 139", False), ("not run: a dead node", "", True)],
)
def test_a_resumed_search_gives_no_setting_a_second_try(
    points: str, end: str, again: bool, plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = tuning.with_block(replace(SEARCH, points=[]), [], [{"burst": "1"}])
    schedule = scheduled(search)
    plan = searching(plan, search, points=[{"pattern": "both", "size_bytes": 1024, "work_units": 5}])
    runner = Runner(plan, tmp_path)
    for name in ("s001", DEFAULT):
        first = next(one for one in schedule if one.side and one.side.name == name)
        left = records.not_run(context(plan, first), plan.points, "failed", points or "x", "now")
        if not points:
            left.points = [{"point": point, "rank": rank, "status": "ok", "samples": {}}
                           for point in plan.points for rank in (0, 1)]  # fmt: skip
        left.end = {"status": "failed", "reason": end or points, "ranks": [], "elapsed_s": 0.0}
        records.write(records.next_attempt(tmp_path / "records", first.identity), left)
    found = ran_to_the_end(runner, monkeypatch)
    assert found["s001", "ok"] == (3 if again else 0) and found["s001", "skipped"] == (0 if again else 2)
    assert found[DEFAULT, "ok"] == (3 if points else 2), "nobody is judged by its launches"
    assert found["reference", "ok"] == 3


@pytest.mark.parametrize("fails", ["confirm.default", "confirm.tuned", "confirm.tuned-mpi", "confirm.reference"])
def test_a_confirmation_is_over_where_the_winner_or_the_default_failed(
    fails: str, plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = tuning.with_confirmation(tuning.with_block(replace(SEARCH, untuned=[]), [], [BOTH]), "s001")
    points = [{"pattern": "both", "size_bytes": 1024, "work_units": 5}]
    runner = Runner(searching(plan, search, points=points), tmp_path)
    found = ran_to_the_end(runner, monkeypatch, fails)
    over = fails in ("confirm.default", "confirm.tuned")
    assert found[fails, "failed"] == (12 if fails == "confirm.reference" else 1)
    others = [name for name in search.blocks[-1].sides if name != fails]
    assert all((found[name, "ok"] <= 1) if over else (found[name, "ok"] == 12) for name in others)


def test_a_search_stops_where_its_job_did_not_come_to_all_launches(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: Runner) -> None:
        raise CalibrationError("the calibration did not end in time")

    monkeypatch.setattr(Runner, "_calibration", broken)
    monkeypatch.setattr(Runner, "_describe_nodes", lambda _: None)
    search = tuning.with_block(replace(SEARCH, points=[]), [], [BOTH])
    assert Runner(searching(plan, search), tmp_path).run() == 1
    lines = [line for path in (tmp_path / "records").iterdir() for line in records.read(path).points]
    assert {line["reason"] for line in lines} == {"not run: the calibration did not end in time"}

    session = Session(tmp_path, Facts("s", "now", "running", **facts_of(search)))
    session.save()
    with pytest.raises(Failure, match=r"^Not run: 9 launches \(the calibration did not end in time\)"):
        all_measured(session)


def test_a_search_stops_where_its_job_ended_before_all_variables_were_asked(tmp_path: Path) -> None:
    """They would be left out of the whole search, though nothing is known of them."""
    probes = [Probe(name, "2", "mpi_t", name.lower()) for name in ("X", "Y")]
    space = [Parameter(probe.name, ["default", "2"], True) for probe in probes]
    session = Session(tmp_path, Facts("s", "now", "running", **facts_of(replace(SEARCH, space=space, probes=probes))))
    session.folders.make()
    request, left = from_facts(session.facts), importlib.import_module("harness.commands.tune")._left
    with pytest.raises(Failure, match=r"asked of 2 variables, X the first: \./bench tune --resume \S+ goes on"):
        left(request, session)
    good_end = "read-back: ended with status 0\n"
    for probe in (None, probes[0]):
        told = f"x = {2 if probe else 1}\ny = 1\n{good_end}"
        read_back.log_of(session.folders.logs, "mpich", probe).write_text(told)
    with pytest.raises(Failure, match="asked of 1 variables, Y the first"):
        left(request, session)
    read_back.log_of(session.folders.logs, "mpich", probes[1]).write_text(f"y: unknown\n{good_end}")
    assert [axis.name for axis in left(request, session).asked.search.space] == ["X"]


def test_why_the_default_has_no_value_is_said() -> None:
    """It may run well: without a launch of the reference in its round nothing can be said of it."""
    found = Measured(SearchPlan("efficiency", ()), {}, {REFERENCE: "exit status 3"})
    assert unmeasured(found) == "none of its launches was measured with its reference, which failed: exit status 3"
    assert unmeasured(replace(found, failures={})) == "none of its launches was measured with its reference"
    assert unmeasured(replace(found, failures={REFERENCE: "x", DEFAULT: "wrong data"})) == "wrong data"


def test_what_is_no_search_is_gone_on_with_by_its_own_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = Request.of(by_names(["overlap-ratio"]), BUILTIN["local"], ["mpich"], ["adaptive"]).facts()
    Session(tmp_path, Facts("s", "now", "interrupted", **facts)).save()
    assert main(["tune", "--resume", str(tmp_path)]) == 2
    assert f"none of ./bench tune: ./bench run --resume {tmp_path.name} goes on with it." in capsys.readouterr().err


@pytest.mark.parametrize(("ends", "state"), [(None, "running"), (KeyboardInterrupt, "interrupted")])
def test_between_its_blocks_a_search_is_running(
    ends: type[BaseException] | None, state: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(_: Request, session: Session) -> bool:
        session.finish("interrupted" if ends else "complete")
        if ends:
            raise ends
        return True

    monkeypatch.setattr(runs, "run", run)
    search = tuning.with_block(SEARCH, [], [BOTH])
    session = Session(tmp_path, Facts("s", "now", "running", **facts_of(search)))
    with pytest.raises(ends) if ends else contextlib.nullcontext():
        tuning.run_block(from_facts(session.facts), session)
    assert json.loads((tmp_path / "session.json").read_text())["state"] == state


def test_where_the_folder_takes_nothing_more_its_own_sentence_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full: list[bool] = []

    def store(*_: object) -> None:
        if full:
            raise OSError(errno.ENOSPC, "No space left on device")

    def run(*_: object) -> bool:
        full.append(True)
        raise Failure("The results cannot be written any more.")

    monkeypatch.setattr(tuning, "store", store)
    monkeypatch.setattr(runs, "run", run)
    session = Session(tmp_path, Facts("s", "now", "running", **facts_of(tuning.with_block(SEARCH, [], [BOTH]))))
    with pytest.raises(Failure, match="cannot be written any more"):
        tuning.run_block(from_facts(session.facts), session)


@pytest.mark.parametrize(
    ("ends", "state"), [(None, "complete"), (KeyboardInterrupt(), "interrupted"), (Failure("no."), "incomplete")]
)
def test_how_a_search_ends_is_how_its_session_ends(
    ends: BaseException | None, state: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = importlib.import_module("harness.commands.tune")

    def search(request: Request, _: Session) -> Request:
        if ends:
            raise ends
        return request

    monkeypatch.setattr(command, "_search", search)
    monkeypatch.setattr(command, "_tell", lambda *_: None)
    session = Session(tmp_path, Facts("s", "now", "running", **facts_of(SEARCH)))
    with pytest.raises(type(ends)) if ends else contextlib.nullcontext():
        command._run(from_facts(session.facts), session)
    assert json.loads((tmp_path / "session.json").read_text())["state"] == state


def test_a_search_goes_on_by_its_own_command_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session = Session(tmp_path, Facts("s", "now", "interrupted", identity={"mpich": "x"}, **facts_of(SEARCH)))
    session.save()
    assert main(["run", "--resume", str(tmp_path)]) == 2
    assert f"is a search of settings: ./bench tune --resume {tmp_path.name} goes on with it." in capsys.readouterr().err
    with pytest.raises(UsageError, match=r"Start a new one\.$"):
        resume_session(from_facts(session.facts), session, force=False)


def test_a_setting_that_failed_is_not_launched_again_in_its_block(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that hangs would take the whole time: the search goes on without it, and the default is launched again."""

    def run(attempt: Attempt) -> Outcome:
        fails = attempt.launch.side is not None and attempt.launch.side.name in (DEFAULT, "s001")
        return Outcome(attempt.launch, "timeout" if fails else "ok", "it hangs" if fails else "", 0.0)

    monkeypatch.setattr(Attempt, "run", run)
    monkeypatch.setattr(Runner, "_describe_nodes", lambda _: None)
    search = tuning.with_block(replace(SEARCH, points=[]), [], [{"burst": "1"}, {"burst": "1", "UCX_TLS": "tcp"}])
    points = [{"pattern": "both", "size_bytes": 1024, "work_units": 5}]
    runner = Runner(searching(plan, search, points=points), tmp_path)
    assert runner.run() == 1
    ran = Counter((one.launch.side.name, one.status) for one in runner.outcomes if one.launch.side)
    assert ran == {
        (DEFAULT, "timeout"): 3, ("reference", "ok"): 3, ("s002", "ok"): 3, ("s001", "timeout"): 1,
        ("s001", "skipped"): 2,
    }  # fmt: skip
    reasons = {one.reason for one in runner.outcomes if one.status == "skipped"}
    assert reasons == {"not needed: s001 failed before"}


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


def test_a_setting_with_which_the_mpi_hangs_costs_a_search_one_short_trial(
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
    sides = [Side("default", "bare"), Side("s001", "bare", environment={"X": "1", "Y": "4"})]
    sides.append(Side("s002", "bare", environment={"Y": "4"}))
    launches = [Launch(f"s.{n}", "bare", n // 3, n, side=sides[n % 3]) for n in range(6)]
    probes = [Probe("X", "1", "mpi_t", "x"), Probe("Y", "2", "mpi_t", "y")]
    rounds = Rounds(sides, [], drop={"default": [], "s001": ["s001"], "s002": ["s002"]})
    asked = replace(plan, points=[{"work_units": 5}], launches=launches, probes=probes, rounds=rounds)
    runner = Runner(asked, tmp_path)
    assert runner.run() == 1
    assert trials == [("", 30.0), ("X=1", 5.0), ("Y=2", 5.0), ("X=1 Y=4", 5.0), ("Y=4", 5.0)]
    assert [(one.launch.side and one.launch.side.name, one.status) for one in runner.outcomes] == [
        ("default", "ok"), ("s001", "failed"), ("s002", "ok"), ("default", "ok"), ("s001", "skipped"), ("s002", "ok"),
    ]  # fmt: skip
    why = "the MPI does not run with X=1 and Y=4: in a short trial it did not end within 5 s"
    assert [runner.outcomes[n].reason for n in (1, 4)] == [why, "not needed: s001 failed before"]


# What the tests of ./bench tune share: a small search, and a run of one whose launches are made up.
SPACE = [Parameter("burst", ["default", "1"], False), Parameter("UCX_TLS", ["default", "tcp"], True)]
POINTS = [{"pattern": "both", "size_bytes": 1024, "comp_over_comm": 1.0}]
SEARCH = Search(
    variant="adaptive", objective="efficiency", bounds={"inflation": 1.05}, minutes=5.0, method="tpe", at_once=2,
    block_rounds=3, confirm=12, space=SPACE, points=POINTS, untuned=[{**POINTS[0], "size_bytes": 2048}], reference=True,
)  # fmt: skip


def scheduled(search: Search) -> list[Launch]:
    """The launches of all blocks."""
    return [launch for block in search.in_rounds().schedule("x", 1) for launch in block]


def searching(plan: Plan, search: Search, **changes: Any) -> Plan:
    """The plan of the last block of a search."""
    return replace(plan, **{"rounds": search.in_rounds(), "launches": search.in_rounds().last("x", 1), **changes})


BOTH = {"burst": "1", "UCX_TLS": "tcp"}


def ran_to_the_end(runner: Runner, monkeypatch: pytest.MonkeyPatch, fails: str = "") -> Counter[tuple[str, str]]:
    """How often each side ended how, where launches of `fails` fail."""

    def run(attempt: Attempt) -> Outcome:
        bad = attempt.launch.side is not None and attempt.launch.side.name == fails
        return Outcome(attempt.launch, "failed" if bad else "ok", "it crashed" if bad else "", 0.0)

    monkeypatch.setattr(Attempt, "run", run)
    monkeypatch.setattr(Runner, "_describe_nodes", lambda _: None)
    runner.run()
    return Counter((one.launch.side.name, one.status) for one in runner.outcomes if one.launch.side)
