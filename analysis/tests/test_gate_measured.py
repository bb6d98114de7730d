# SPDX-License-Identifier: BSD-3-Clause
"""What is read from a gate's records: sides by round, the check run by node, and what failed and was not run again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from analysis.errors import UsageError
from analysis.gate import gate_records
from analysis.gate import judge as judging
from analysis.gate.judge import judge
from analysis.records.load import load

POINT = {"pattern": "both", "size_bytes": 1024}
CHECK_RUN = {"pattern": "both", "size_bytes": 262144}


def record(
    folder: Path,
    side: str,
    round_: int,
    status: str = "ok",
    attempt: str = "",
    base_s: float = 1.0,
    reason: str = "exit status 11",
    minute: int | None = None,
    hosts: Sequence[str] = ("vc1", "vc2"),
    ended: str = "",
    study: str = "overlap-ratio",
    point: dict[str, Any] = POINT,
    network: str = "1gbit",
    armed: Sequence[float] = (),
) -> None:
    """`ended`: how the launch did behind its last point, if not as its points."""
    launch = f"{'s' if study == 'overlap-ratio' else study}.{round_}.{side}"
    context = {
        "launch": launch, "study": study, "system": "vcluster", "mpi": "mpich", "variant": "bare",
        "repetition": round_, "order": round_, "side": side,
        "session": "g", "network": network,
    }  # fmt: skip
    began = f"2026-11-24T10:{round_ if minute is None else minute:02d}:00Z"
    ranks = [{"rank": n, "host": hosts[n], "cpus_allowed": [n], "clock_resolution_s": 1e-9} for n in (0, 1)]
    header = {
        "schema": 1, "context": context, "workload": {"name": "overlap", "version": "1"}, "arguments": [],
        "mpi_library": "MPICH", "thread_level": None, "world_size": 2, "ranks": ranks, "start_time": began,
    }  # fmt: skip
    samples = {"total_s": [base_s] * 3, "comm_s": [0.1] * 3, "comp_s": [0.2] * 3}
    if armed:
        samples = {"total_s": [base_s * (0.8 if on else 1.0) for on in armed], "armed": list(armed)}
    lines: list[dict[str, Any]] = [{"header": header}]
    for rank in (0, 1):
        good = {"point": CHECK_RUN if side == "check" else point, "rank": rank, "status": status, "samples": samples}
        lines.append(good if status == "ok" else {**good, "samples": {}, "reason": reason})
    lines.append({"end": {"status": ended or status, "reason": "exit status 6", "elapsed_s": 1.0, "ranks": []}})
    (folder / f"{launch}{attempt}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """Three rounds of a gate whose candidate is twice as slow."""
    sides = [{"name": "base", "variant": "bare"}]
    gate = {"sides": sides, "rounds": 3, "looks": [3], "margin": 0.02, "base": "bare", "new": "off"}
    facts = {
        "session": "g", "created": "2026", "system": "vcluster", "mpi_names": ["mpich"], "request": {"gate": gate},
        "identity": {"mpich engine": "12ab"}, "state": "complete", "git": {"commit": "34cd", "dirty": False},
    }  # fmt: skip
    (tmp_path / "session.json").write_text(json.dumps(facts))
    folder = tmp_path / "records"
    folder.mkdir()
    for round_ in range(3):
        for side, seconds in (("check", 1.0), ("base", 1.0), ("control", 1.0), ("new", 2.0)):
            record(folder, side, round_, base_s=seconds)
    return tmp_path


def test_pairs_within_launches_are_a_series_of_their_own(session: Path) -> None:
    for round_ in range(3):
        for side, seconds in (("base", 1.0), ("control", 1.1), ("new", 2.0)):
            record(session / "records", side, round_, base_s=seconds, armed=[1, 0, 0, 1])
    whole, within = gate_records.read(session).series
    assert (whole.paired, within.paired) == (False, True) and within.name.startswith(whole.name)
    assert within.values == {side: dict.fromkeys(range(3), pytest.approx(0.8)) for side in gate_records.SIDES}
    record(session / "records", "new", 2, base_s=2.0)
    assert [series.paired for series in gate_records.read(session).series] == [False]


def test_sides_by_round_and_the_check_run_by_node(session: Path) -> None:
    found = gate_records.read(session)
    (series,) = found.series
    assert series.values == {
        "base": {0: 1.0, 1: 1.0, 2: 1.0}, "control": {0: 1.0, 1: 1.0, 2: 1.0}, "new": {0: 2.0, 1: 2.0, 2: 2.0},
    }  # fmt: skip
    assert found.complete_rounds() == [0, 1, 2] and not series.trouble
    assert found.check_run["computation"] == {"vc1": {0: 0.2, 1: 0.2, 2: 0.2}, "vc2": {0: 0.2, 1: 0.2, 2: 0.2}}
    assert list(found.check_run["transfer"]) == ["vc1 and vc2"]
    assert found.baseline == "bare 12ab" and "vc1, vc2" in found.where
    assert found.commit == "34cd"


def test_the_check_run_is_known_by_its_old_name(session: Path) -> None:
    now = gate_records.read(session).check_run
    for file in (session / "records").glob("*check*"):
        file.write_text(file.read_text().replace('"side": "check"', '"arm": "canary"'))
    assert now and gate_records.read(session).check_run == now


def test_a_gate_of_two_networks_is_refused_and_both_are_named(session: Path) -> None:
    assert gate_records.read(session).network == "1gbit"
    record(session / "records", "new", 3, network="10gbit")
    with pytest.raises(UsageError, match="2 networks, whose times cannot be held against each other: 10gbit; 1gbit"):
        gate_records.read(session)
    assert "10gbit; 1gbit" in load([session]).cautions()[0]


def test_the_check_run_is_of_the_nodes_on_which_it_ran_at_last(session: Path) -> None:
    """Its launch failed, and --resume had other nodes."""
    record(session / "records", "check", 1, status="failed")
    record(session / "records", "check", 1, attempt=".r1", hosts=("vc3", "vc4"))
    found = gate_records.read(session).check_run
    assert {where: sorted(rounds) for where, rounds in found["computation"].items()} == {
        "vc1": [0, 2], "vc2": [0, 2], "vc3": [1], "vc4": [1],
    }  # fmt: skip
    assert found["transfer"]["vc3 and vc4"].keys() == {1}


def test_each_study_has_the_check_run_of_its_own_job(session: Path) -> None:
    """Their rounds have the same numbers."""
    facts = json.loads((session / "session.json").read_text())
    (session / "session.json").write_text(json.dumps({**facts, "studies": ["overlap-ratio", "latency"]}))
    for round_ in range(2):
        record(session / "records", "check", round_, study="latency", hosts=("vc3", "vc4"))
    found = gate_records.read(session)
    assert (found.check_run_rounds("overlap-ratio"), found.check_run_rounds("latency")) == (3, 2)
    assert list(found.check_run["computation beside latency"]) == ["vc3", "vc4"]
    assert list(found.check_run["transfer beside overlap-ratio"]) == ["vc1 and vc2"]


def test_what_failed_is_trouble_until_it_is_run_again(session: Path) -> None:
    record(session / "records", "new", 1, status="failed")
    (series,) = gate_records.read(session).series
    assert series.trouble == {"new": "exit status 11"} and 1 not in series.values["new"]
    before = gate_records.read(session).records
    record(session / "records", "new", 1, attempt=".r1")
    found = gate_records.read(session)
    (series,) = found.series
    assert not series.trouble and 1 in series.values["new"]
    assert (before, found.records) == (12, 13), "by which the store knows what was told later"


def test_what_never_began_is_no_trouble_if_it_was_not_needed_later(session: Path) -> None:
    """A crash stays one, also where a later run does not repeat it."""
    record(session / "records", "new", 1, status="failed", reason="not run: the batch job was cancelled")
    assert gate_records.read(session).series[0].trouble
    record(session / "records", "new", 1, status="skipped", attempt=".r1", reason="not needed: the time was up")
    (series,) = gate_records.read(session).series
    assert not series.trouble and 1 not in series.values["new"]
    record(session / "records", "new", 2, status="failed")
    record(session / "records", "new", 2, status="skipped", attempt=".r1", reason="not needed: the time was up")
    assert gate_records.read(session).series[0].trouble == {"new": "exit status 11"}


@pytest.mark.parametrize("how", ["failed", "timeout"])
def test_a_launch_that_breaks_behind_its_last_point_has_failed(session: Path, how: str) -> None:
    """In MPI_Finalize, say: all of its points are good. What the job's end stopped is no failure, and it may be what
    broke a single one."""
    record(session / "records", "new", 1, ended="interrupted")
    assert not gate_records.read(session).series[0].trouble
    record(session / "records", "new", 1, ended=how)
    found = gate_records.read(session)
    assert found.series[0].trouble == {"new": "behind the last point: exit status 6"}
    assert found.complete_rounds() == [0, 1, 2] and judge(found).failed_sides == []
    record(session / "records", "new", 2, ended=how)
    found = gate_records.read(session)
    assert found.series[0].trouble == {"new": "in 2 launches behind the last point: exit status 6"}
    assert judge(found).candidate_failed


def test_points_that_cannot_be_measured_are_said_not_to_be_compared(session: Path) -> None:
    """Else a gate that passes seems to be of all that was asked for. What was not needed is none."""
    assert gate_records.read(session).notes == []
    other = {"pattern": "both", "size_bytes": 2048}
    for reason, said in {"not needed: the time was up": [], "no SMT sibling": ["both, 2 KB: no SMT sibling."]}.items():
        for side in ("base", "control", "new"):
            record(session / "records", side, 3, status="skipped", reason=reason, point=other)
        found = gate_records.read(session)
        assert found.notes == [f"Not compared: overlap-ratio: {words}" for words in said]
        assert not found.series[0].trouble and found.complete_rounds() == [0, 1, 2]


def test_where_every_launch_failed_it_is_said_how(session: Path) -> None:
    for round_ in range(3):
        for side in ("base", "control", "new"):
            record(session / "records", side, round_, status="failed", reason="exit status 127")
    found = judge(gate_records.read(session))
    assert found.status == 3 and "base failed: exit status 127; control failed" in found.sentence


def test_a_checkout_with_changes_is_not_its_commit(session: Path) -> None:
    facts = json.loads((session / "session.json").read_text())
    facts["git"]["dirty"] = True
    (session / "session.json").write_text(json.dumps(facts))
    assert gate_records.read(session).commit == "34cd+changes"


def test_what_failed_of_the_check_run_is_no_sides_trouble(session: Path) -> None:
    for round_ in range(3):
        record(session / "records", "check", round_, status="failed", reason="an even number of ranks is wanted")
    found = gate_records.read(session)
    assert not found.series[0].trouble and found.check_run_rounds("overlap-ratio") == 0
    assert found.check_run_trouble == "an even number of ranks is wanted"


def test_the_launch_with_which_its_job_ended_is_no_failure_of_its_side(session: Path) -> None:
    """A node died under it: the launches behind it were not run. Two failures are not both the job's."""
    gone = "not run: a node of the batch job died (NODE_FAIL)"
    record(session / "records", "new", 2, status="failed", reason="exit status 137", minute=2)
    for round_ in (3, 4):
        for side in ("base", "control", "new"):
            record(session / "records", side, round_, status="failed", reason=gone, minute=30)
    for round_ in range(2):
        for side in ("check", "base", "control"):
            record(session / "records", side, round_, minute=round_)
    for side in ("check", "base", "control"):
        record(session / "records", side, 2, minute=1)
    found = gate_records.read(session)
    assert found.series[0].trouble["new"] == f"{gate_records.CUT_OFF}exit status 137"
    assert judge(found).failed_sides == []
    record(session / "records", "new", 1, status="failed", reason="exit status 11", minute=1)
    found = gate_records.read(session)
    assert found.series[0].trouble["new"] == "exit status 11"
    assert judge(found).candidate_failed


def test_a_look_that_was_made_stays_what_it_was_when_a_failed_launch_is_measured_late(session: Path) -> None:
    """The first look's twelve rounds are those without round 3, whose candidate is run again by --resume."""
    facts = json.loads((session / "session.json").read_text())
    facts["request"]["gate"] |= {"rounds": 24, "looks": [12, 24]}
    (session / "session.json").write_text(json.dumps(facts))
    for round_ in range(13):
        for side in ("base", "control", "new"):
            noise = 1 + (round_ * 7 + len(side)) % 5 / 1000
            record(session / "records", side, round_, base_s=noise * (1.05 if side == "new" else 1.0))
    record(session / "records", "new", 3, status="failed")
    before = judge(gate_records.read(session), ended=False)
    assert before.rounds == 12 and before.verdict.value == "commit"
    record(session / "records", "new", 3, attempt=".r1", base_s=0.9, minute=50)
    again = gate_records.read(session)
    after = judge(again, ended=False)
    assert again.complete_rounds() == [0, 1, 2, *range(4, 13), 3]
    assert (after.points, after.verdict, after.rounds) == (before.points, before.verdict, 12)


@pytest.mark.parametrize(
    ("base", "new", "comparison"),
    [
        ("bare", "off", "off against bare"),
        ("bare", "adaptive:burst=5", "adaptive:burst=5 against bare"),
        ("bare", "settings:site.conf", "settings:site.conf against bare"),
        ("commit:aa", "commit:bb,timer", "commit,timer against commit:aa"),
        ("prefix:/opt/x", "prefix:/job/17/x", "prefix against prefix:/opt/x (bare 12ab)"),
        ("bare", "mpi:openmpi,bare", "mpi:openmpi,bare against bare"),
    ],
)
def test_what_makes_gates_of_one_series(session: Path, base: str, new: str, comparison: str) -> None:
    facts = json.loads((session / "session.json").read_text())
    facts["request"]["gate"] |= {"base": base, "new": new}
    (session / "session.json").write_text(json.dumps(facts))
    assert gate_records.read(session).comparison == comparison


@pytest.mark.parametrize(("base", "same"), [("settings:tcp.conf", False), ("modules:site", True)])
def test_a_baseline_with_other_variables_has_other_times(session: Path, base: str, same: bool) -> None:
    """Else a gate of it would say that the system changed. Modules set what is another one in every job."""
    facts = json.loads((session / "session.json").read_text())
    found = set()
    for value in ("tcp", "self", "self"):
        facts["request"]["gate"] |= {
            "base": base, "sides": [{"name": "base", "variant": "bare", "environment": {"UCX_TLS": value}}],
        }  # fmt: skip
        (session / "session.json").write_text(json.dumps(facts))
        what = gate_records.read(session)
        found.add(what.baseline)
        assert "12ab" in what.baseline and what.comparison.endswith("(bare 12ab)" if same else base)
    assert len(found) == (1 if same else 2)


def test_a_program_that_was_built_anew_has_other_times(session: Path) -> None:
    """Which are no sign of a system that changed."""
    facts = json.loads((session / "session.json").read_text())
    found = set()
    for digest in ("56ef", "78ab"):
        facts["identity"]["program"] = digest
        (session / "session.json").write_text(json.dumps(facts))
        found.add(gate_records.read(session).baseline)
    assert found == {"bare 12ab 56ef", "bare 12ab 78ab"}


def test_a_look_ends_the_study_that_is_settled(session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert judging.main([str(session), "overlap-ratio"]) == 1, "three rounds show nothing"
    found = judge(gate_records.read(session), ended=False)
    monkeypatch.setattr(judging, "judge", lambda *_, **__: replace(found, settled=["overlap-ratio"]))
    assert judging.main([str(session), "overlap-ratio"]) == 0
    assert judging.main([str(session), "latency"]) == 1
    monkeypatch.setattr(judging, "judge", lambda *_, **__: replace(found, decided=True))
    assert judging.main([str(session), "latency"]) == 0


def test_another_session_is_none_of_a_gate(session: Path) -> None:
    facts = json.loads((session / "session.json").read_text())
    (session / "session.json").write_text(json.dumps({**facts, "request": {}}))
    with pytest.raises(UsageError, match="no session of"):
        gate_records.read(session)
