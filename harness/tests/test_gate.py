# SPDX-License-Identifier: BSD-3-Clause
"""./bench gate: its sides, its schedule, when it stops, and what it says of calls that cannot be."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from analysis.gate import gate_records, judge, store
from analysis.gate.outcome import GateFound
from analysis.tests import test_gate_verdict as simulated
from harness.base.errors import Failure
from harness.base.paths import VENV
from harness.cli import main
from harness.commands.gate import PLAN, _origin, _tell
from harness.job.launch import Attempt, Outcome
from harness.job.plan import Gate, Plan, Side
from harness.job.runner import Runner
from harness.job.session import Facts, Session, State, create, load
from harness.sessions import gates
from harness.sessions import run as runs
from harness.sites.systems import BUILTIN, Request, from_facts
from reframe_checks.catalogue import by_names

SIDES = [
    Side("base", "adaptive"),
    Side("control", "adaptive"),
    Side("new", "timer", options=["--inject-slowdown=1.05"]),
]


def gate(rounds: int = 4, **changes: object) -> Gate:
    look = [sys.executable, "-c", "raise SystemExit(1)"]
    planned = Gate(SIDES, gates.CHECK_RUN, rounds, 10.0, [2], look, 0.02, "a", "b")
    return replace(planned, **changes)  # type: ignore[arg-type]


REQUEST = Request.of(by_names(["overlap-ratio"]), BUILTIN["vcluster"], ["mpich"], ["adaptive"], gate=gate())
FACTS = Facts("s", "now", "complete", **REQUEST.facts())
CHECK = """
import reframe as rfm
@rfm.simple_test
class Trivial(rfm.RunOnlyRegressionTest):
    valid_systems = valid_prog_environs = ["*"]
    executable = "true"
    @sanity_function
    def is_good(self):
        return True
"""
CALL = ("gate", "--base", "bare", "--new", "off", "--system", "local", "--store")


def test_every_round_has_each_side_once_between_two_canaries() -> None:
    schedule = gate().in_rounds().last("s.vcluster.mpich", 7)
    names = [launch.side.name for launch in schedule if launch.side]
    assert names[::4] == ["check"] * 5
    rounds = [names[place + 1 : place + 4] for place in range(0, 16, 4)]
    assert all(sorted(one) == ["base", "control", "new"] for one in rounds)
    assert len({tuple(one) for one in rounds}) > 1, "the order is drawn anew"
    assert len({launch.identity for launch in schedule}) == len(schedule)
    assert schedule == gate().in_rounds().last("s.vcluster.mpich", 7)


def test_a_gates_request_survives_its_session() -> None:
    again = from_facts(FACTS)
    assert again.asked.gate == REQUEST.asked.gate
    assert REQUEST.programs() == {"mpich": ["microbench"]}
    check_run, first = REQUEST.jobs()[0].launches[:2]
    assert REQUEST.jobs()[0].points_of(check_run) == gates.CHECK_RUN.points
    assert len(REQUEST.jobs()[0].points_of(first)) > 1


@pytest.fixture
def launched(plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runner:
    """A runner of a gate none of whose launches really runs."""

    def run(attempt: Attempt) -> Outcome:
        return Outcome(attempt.launch, "ok", "", 0.0)

    monkeypatch.setattr(Attempt, "run", run)
    monkeypatch.setattr(Runner, "_describe_nodes", lambda _: None)
    points = [{"pattern": "both", "size_bytes": 1024, "work_units": 5}]
    rounds = gate().in_rounds()
    return Runner(replace(plan, points=points, rounds=rounds, launches=rounds.last("s", 1)), tmp_path)


def ran(runner: Runner) -> list[str]:
    return [outcome.launch.side.name for outcome in runner.outcomes if outcome.launch.side]


def test_a_gate_goes_on_while_nothing_is_known(launched: Runner) -> None:
    assert launched.run() == 0
    assert len(ran(launched)) == 17


def test_a_gate_stops_behind_a_check_run_when_enough_is_known(launched: Runner, tmp_path: Path) -> None:
    told = tmp_path / "asked"
    look = [sys.executable, "-c", f"import sys; open({str(told)!r}, 'w').write(' '.join(sys.argv[1:]))"]
    launched.plan = replace(launched.plan, rounds=gate(look=look).in_rounds())
    assert launched.run() == 0
    assert len(ran(launched)) == 2 * 4 + 1 and ran(launched)[-1] == "check"
    assert told.read_text() == f"{tmp_path} {launched.plan.study}"
    left = [json.loads(path.read_text().splitlines()[-1]) for path in (tmp_path / "records").glob("*.jsonl")]
    assert len(left) == 8
    assert {(line["end"]["status"], line["end"]["reason"]) for line in left} == {
        ("skipped", "not needed: the verdict was known")
    }
    again = Runner(launched.plan, tmp_path)
    assert not {launch.side.name for launch, _ in again._todo() if launch.repetition >= 2 and launch.side} - {"check"}


def test_a_gate_begins_no_round_when_its_time_is_up(launched: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "monotonic", lambda: launched.started + 601.0)
    assert launched.run() == 0
    assert ran(launched) == ["check"]


def test_a_damaged_store_is_said_before_anything_is_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "old.gate.json").write_text("{")
    assert main([*CALL, str(tmp_path)]) == 2
    assert "old.gate.json" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["old.gate.json"]
    assert main(["history", "--store", str(tmp_path)]) == 2


def test_what_breaks_or_is_stopped_is_not_a_slower_candidate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = OSError("gone"), BrokenPipeError(32, "gone")
    for error in (KeyboardInterrupt(), Failure("no nodes"), *gone, KeyError("x")):
        monkeypatch.setattr(gates, "with_sides", Raising(error))
        assert main([*CALL, str(tmp_path)]) == (130 if isinstance(error, KeyboardInterrupt) else 3)


def test_a_verdict_that_cannot_be_read_is_not_a_slower_candidate(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], measuring: Session
) -> None:
    """A defect keeps its traceback."""
    monkeypatch.setattr(gate_records, "read", Raising(KeyError("side")))
    monkeypatch.setattr(gates, "with_sides", lambda *_: _tell(measuring, None, measuring.path / "store"))
    assert main([*CALL, str(measuring.path / "store")]) == 3
    assert "Traceback" in (said := capsys.readouterr().err) and "KeyError: 'side'" in said


@pytest.mark.parametrize(("state", "ended"), [("complete", True), ("incomplete", False), ("interrupted", False)])
def test_a_gate_that_broke_off_has_not_ended(
    state: State, ended: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After --resume its error would be spent a second time."""
    (tmp_path / PLAN).write_text("{}")
    said: list[object] = []
    real = judge.judge

    def asked(*words: Any) -> GateFound:
        said.append(words[2])
        return real(*words)

    session = Session(tmp_path, Facts("s", "now", state, **REQUEST.facts()))
    what = gate_records.Measurement(
        "s", gate_records.Plan(4, [2], 0.02, "a", "b"), "a", "vcluster (), mpich", "2026", [], {}, []
    )
    monkeypatch.setattr(gate_records, "read", lambda _: what)
    monkeypatch.setattr(judge, "judge", asked)
    assert _tell(session, None, tmp_path / "store") == 3
    assert said == [ended]


def test_a_gate_that_told_and_goes_on_is_one_gate_in_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One study had told, and the next one broke off: what --resume measures is more, and if it is canaries alone."""
    (tmp_path / PLAN).write_text("{}")
    facts = Facts("s", "now", "incomplete", **REQUEST.facts())
    what = replace(simulated.gate({"new": 1.1}), records=160)
    times = {kind: {where: rounds | {40: 1.0} for where, rounds in one.items()} for kind, one in what.check_run.items()}
    runs: list[tuple[State, gate_records.Measurement]] = [
        ("incomplete", what),
        ("complete", replace(what, check_run=times, records=161)),
    ]
    for state, read in runs:
        monkeypatch.setattr(gate_records, "read", lambda _, read=read: read)
        assert _tell(Session(tmp_path, replace(facts, state=state)), None, tmp_path / "store") == 1
    (kept,) = store.read(tmp_path / "store")
    assert (kept.verdict, kept.records) == ("commit", 161)


STATUSES = {"same": ({}, 3, "undecided"), "commit": ({"new": 1.1}, 1, "commit")}


@pytest.fixture
def measuring(tmp_path: Path) -> Session:
    """A gate that has measured, with a store that was whole when it began."""
    (tmp_path / PLAN).write_text("{}")
    store.add(tmp_path / "store", store.Entry("old", "2026", "vcluster, mpich", "a", "b", "same", {}, {}))
    return Session(tmp_path, FACTS)


@pytest.mark.parametrize("case", STATUSES)
def test_a_store_that_is_damaged_while_a_gate_measures_passes_nothing_and_hides_nothing(
    case: str, measuring: Session, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its verdict and its files are there all the same, and what it measured is in the store."""
    slower, status, verdict = STATUSES[case]
    (old,) = (measuring.path / "store").iterdir()
    old.write_text("{")
    noted = replace(simulated.gate(slower), notes=["Something else ran beside it."])
    monkeypatch.setattr(gate_records, "read", lambda _: noted)
    assert _tell(measuring, None, old.parent) == status
    said, beside = capsys.readouterr()
    assert "Something else ran beside it." in beside
    assert said.startswith(f"{verdict}: ") and ("is damaged" in said) is (status == 3)
    assert json.loads((measuring.path / "gate" / "gate.json").read_text())["verdict"] == verdict
    assert old.read_text() == "{" and len(list(old.parent.iterdir())) == 2
    old.unlink()
    assert [(one.verdict, one.disturbed) for one in store.read(old.parent)] == [(verdict, True)]


@pytest.mark.parametrize(("slower", "status"), [({}, 3), ({"new": 1.1}, 1)])
def test_a_slower_candidate_stays_one_where_nothing_can_be_written(
    slower: dict[str, float],
    status: int,
    measuring: Session,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A pipeline goes on at status 3, with a warning."""
    (measuring.path / "file").write_text("")
    monkeypatch.setattr(gate_records, "read", lambda _: simulated.gate(slower))
    for out, kept in ((None, measuring.path / "file" / "store"), (measuring.path / "file", measuring.path / "store")):
        assert _tell(measuring, out, kept) == status
        told = capsys.readouterr()
        assert ("commit: " in told.out) is (status == 1) and "bench: " in told.out + told.err


@pytest.mark.parametrize("error", [BrokenPipeError(32, "gone"), OSError(28, "No space left on device")])
def test_a_slower_candidate_stays_one_where_nobody_reads_what_is_said(
    error: OSError, measuring: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its files are there all the same, and what could not be written does not fail once more at the end."""
    gone = io.StringIO()
    gone.write = Raising(error)  # type: ignore[assignment]
    monkeypatch.setattr(gate_records, "read", lambda _: simulated.gate({"new": 1.1}))
    monkeypatch.setattr(sys, "stdout", gone)
    assert _tell(measuring, None, measuring.path / "store") == 1
    assert json.loads((measuring.path / "gate" / "gate.json").read_text())["verdict"] == "commit"
    assert len(store.read(measuring.path / "store")) == 2
    print("the end", flush=True)


def test_gates_that_began_later_by_their_clock_are_counted_out_loud(
    measuring: Session, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    what = simulated.gate({})
    monkeypatch.setattr(gate_records, "read", lambda _: what)
    ahead = store.Entry("ahead", "2999", what.where, "a", "b", "same", {}, {}, network=what.network)
    for entry in (ahead, replace(ahead, session="elsewhere", where="another cluster")):
        store.add(measuring.path / "store", entry)
    _tell(measuring, None, measuring.path / "store")
    assert "not counted: 1 gate here that began after this one by the clock (ahead): the" in capsys.readouterr().err


def test_reframes_database_finds_a_run_by_its_verdict_too(
    measuring: Session, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Two runs of one name, of which one is the gate's; where there is no database none is made."""
    monkeypatch.setattr(runs, "REFRAME_DB", tmp_path / "reframe.db")
    monkeypatch.setattr(gate_records, "read", lambda _: simulated.gate({"new": 1.1}))
    _tell(measuring, None, tmp_path / "store")
    assert not runs.REFRAME_DB.exists()
    (tmp_path / "check.py").write_text(CHECK)
    storage = {"RFM_ENABLE_RESULTS_STORAGE": "yes", "RFM_SQLITE_DB_FILE": str(runs.REFRAME_DB), "LOGNAME": "tester"}

    def reframe(*words: str) -> str:
        command = [str(VENV / "bin" / "reframe"), "--nocolor", *words]
        how: dict[str, Any] = {"capture_output": True, "text": True, "timeout": 120}
        return str(subprocess.run(command, check=True, cwd=tmp_path, env=os.environ | storage, **how).stdout)

    for session in (measuring, Session(tmp_path / "other" / measuring.name, FACTS)):
        reframe("-c", "check.py", "-r", "--prefix", str(session.path / "reframe"), *runs._extras(session))
    _tell(measuring, None, tmp_path / "store")
    found = json.loads(reframe("--describe-stored-sessions=?verdict=='commit'"))
    assert [one["session_info"]["prefix_output"] for one in found] == [str(measuring.path / "reframe" / "output")]


def test_a_store_that_cannot_be_written_is_said_before_anything_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(gates, "with_sides", Raising(Failure("it goes on")))
    (tmp_path / "file").write_text("")
    assert main([*CALL, str(tmp_path / "file" / "gates")]) == 2
    assert "cannot be written: Not a directory" in capsys.readouterr().err


@pytest.mark.parametrize("asked", [("--base", "bare", "--new", "off"), ("--resume", "nothing")])
def test_a_folder_that_takes_no_verdict_is_said_before_anything_is_measured(
    asked: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(gates, "with_sides", Raising(Failure("it goes on")))
    (tmp_path / "file").write_text("")
    for out in ("file", "file/gate"):
        assert main(["gate", *asked, "--out", str(tmp_path / out), "--store", str(tmp_path / "store")]) == 2
        assert f"--out {tmp_path / out} cannot be written (Not a directory)" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["file"], "and nothing is made"


def test_a_gate_is_one_gate_wherever_its_folder_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Told by way of a link, and from where it was copied to, as a pipeline restores what it kept."""
    monkeypatch.setenv("OVERLAP_BENCH_RESULTS", str(tmp_path / "results"))
    monkeypatch.setattr(gate_records, "read", lambda _: simulated.gate({}))
    first = create("gate", REQUEST.facts())
    (first.path / PLAN).write_text("{}")
    kept, link, moved = tmp_path / "store", tmp_path / "link", tmp_path / "elsewhere" / first.name
    link.symlink_to(tmp_path / "results")
    shutil.copytree(first.path, moved)
    os.utime(moved / PLAN, ns=(1, 1))
    for session in (first, Session(link / first.name, first.facts), load(str(moved))):
        _tell(session, None, kept)
    assert len(store.read(kept)) == len(list(kept.iterdir())) == 1


def test_a_gate_whose_folder_has_another_name_now_is_not_held_against_itself(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its session.json has the name by which the store knows it."""
    facts = Facts("20261122-gate", "now", "complete", origin="12ab", **REQUEST.facts())
    known: list[object] = []
    real = judge.judge

    def asked(*words: Any) -> GateFound:
        known.append(words[1])
        return real(*words)

    monkeypatch.setattr(gate_records, "read", lambda _: simulated.gate())
    monkeypatch.setattr(judge, "judge", asked)
    for name in (facts.session, "kept"):
        (tmp_path / name).mkdir()
        assert _tell(Session(tmp_path / name, facts), None, tmp_path / "store") == 0
    assert known == [[], []]


def test_each_session_is_another_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OVERLAP_BENCH_RESULTS", str(tmp_path))
    drawn = [load(create("gate", {}).name).facts.origin for _ in range(3)]
    assert len({*drawn, ""}) == 4


def test_sessions_of_one_name_are_told_from_each_other(tmp_path: Path) -> None:
    """Those of an earlier version, too. And a session that goes on is itself."""
    facts = Facts("s", "now", "complete")
    here, there = (Session(tmp_path / name / "s", facts) for name in ("a", "b"))
    for session in (here, there):
        session.path.mkdir(parents=True)
        (session.path / PLAN).write_text("{}")
        os.utime(session.path / PLAN, ns=(1, 1))
    assert _origin(here) != _origin(there)
    before = _origin(here)
    (tmp_path / "link").symlink_to(tmp_path / "a")
    assert _origin(Session(tmp_path / "link" / "s", facts)) == before
    assert _origin(Session(here.path, replace(facts, state="interrupted", finished="later"))) == before
    os.utime(here.path / PLAN, ns=(1, 2))  # the same folder's name, on another host
    assert _origin(here) != before


class Raising:
    """A function that raises."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __call__(self, *_: object) -> None:
        raise self.error
