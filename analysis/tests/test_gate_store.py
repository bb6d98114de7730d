# SPDX-License-Identifier: BSD-3-Clause
"""The store of gates: whole files alone, two writers at once, what is damaged is named and left as it is."""

from __future__ import annotations

import errno
import json
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from analysis.errors import Failure, UsageError
from analysis.gate import gate_records, store
from analysis.gate.judge import judge
from analysis.gate.outcome import NEW
from analysis.tests import test_gate_verdict as simulated

PLAN = gate_records.Plan(12, [12], 0.02, "adaptive", "timer")
ENTRY = store.Entry("20261122-gate", "2026-11-22T10:00:00", "vcluster, mpich", "adaptive", "timer", "same", {}, {})


def test_what_was_put_in_comes_out_by_time(tmp_path: Path) -> None:
    later = replace(ENTRY, session="a", time="2026-11-23T10:00:00", ratios={"1 MB": 1.25})
    for entry in (later, ENTRY):
        store.add(tmp_path / "our gates", entry)
    assert store.read(tmp_path / "our gates") == [ENTRY, later]
    assert store.read(tmp_path / "none") == []


def test_many_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    entries = [replace(ENTRY, session=f"gate-{number:03d}") for number in range(60)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda entry: store.add(tmp_path, entry), entries))
    assert store.read(tmp_path) == entries
    assert not list(tmp_path.glob(".*"))


def test_a_gate_is_never_written_over(tmp_path: Path) -> None:
    path = store.add(tmp_path, ENTRY)
    before = path.read_bytes()
    store.add(tmp_path, ENTRY)
    others: list[dict[str, Any]] = [{"ratios": {"1 MB": 1.25}}, {"time": "2026-11-22T10:00:01"}, {"new": "idle"}]
    for other in others:
        with pytest.raises(UsageError, match="another gate of session"):
            store.add(tmp_path, replace(ENTRY, **other))
    store.add(tmp_path, replace(ENTRY, verdict="system"))  # what else is in the store has changed, and no launch
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


WENT_ON = [("undecided", "same"), ("node", "commit"), ("commit", "commit"), ("same", "same"), ("commit", "undecided")]


@pytest.mark.parametrize(("first", "then"), WENT_ON)
def test_a_gate_that_went_on_is_one_gate_whatever_it_said_before(tmp_path: Path, first: str, then: str) -> None:
    """Also where its check run, or another of its studies, was measured further, or on other nodes."""
    early = replace(ENTRY, origin="12ab", verdict=first, ratios={"1 MB": 1.06}, values={"check": 1.0}, records=49)
    late = replace(early, verdict=then, ratios={"1 MB": 1.06, "2 MB": 1.0}, values={"check": 1.1}, records=97)
    late = replace(late, where="vcluster (other nodes), mpich")
    for entry in (early, late, late):
        store.add(tmp_path, entry)
    assert store.read(tmp_path) == [late]
    assert store.before(store.read(tmp_path), early.session, late.where, late.time, "12ab") == []
    assert len(list(tmp_path.iterdir())) == 2, "what it said before is kept"


def test_who_writes_last_does_not_win(tmp_path: Path) -> None:
    """Two that tell one gate: the one that knows less may be slower to write."""
    told = [replace(ENTRY, ratios={"1 MB": 1 + number / 100}, records=number) for number in range(1, 41)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda entry: store.add(tmp_path, entry), reversed(told)))
    assert store.read(tmp_path) == told[-1:]
    assert len(list(tmp_path.iterdir())) == 40
    store.add(tmp_path, replace(ENTRY, session="another"))
    assert len(store.read(tmp_path)) == 2


def test_gates_of_one_second_in_two_folders_of_results_are_both_kept(tmp_path: Path) -> None:
    """Their sessions have one name."""
    ours, theirs = replace(ENTRY, origin="12ab"), replace(ENTRY, origin="34cd", verdict="commit")
    for entry in (ours, theirs):
        store.add(tmp_path, entry)
    assert sorted(store.read(tmp_path), key=lambda one: one.origin) == [ours, theirs]
    assert store.before([ours, theirs], ENTRY.session, ENTRY.where, ENTRY.time, "12ab") == [theirs]


@pytest.mark.parametrize("damage", [b"", b'{"session": "x"}', b"\xff\x00", b"[1"])
def test_a_damaged_file_is_named_and_left(tmp_path: Path, damage: bytes) -> None:
    store.add(tmp_path, ENTRY)
    broken = tmp_path / f"broken{store.SUFFIX}"
    broken.write_bytes(damage)
    with pytest.raises(UsageError, match=r"broken\.gate\.json .* is damaged"):
        store.read(tmp_path)
    assert broken.read_bytes() == damage


@pytest.mark.parametrize(
    ("changed", "where"),
    [
        ({"ratios": {"1 MB": 0.0}}, "ratios.1 MB"),
        ({"ratios": {"1 MB": float("nan")}}, "ratios.1 MB"),
        ({"values": {"check": -1.0}}, "values.check"),
        ({"values": {"check": float("inf")}}, "values.check"),
        ({"intervals": {"1 MB": [1.0]}}, "intervals.1 MB"),
    ],
)
def test_numbers_that_no_gate_measures_are_damage(tmp_path: Path, changed: dict[str, Any], where: str) -> None:
    """Their logarithms would make every later gate of this place pass, or stop the history."""
    path = store.add(tmp_path, ENTRY)
    path.write_text(json.dumps(json.loads(path.read_text()) | changed))
    with pytest.raises(UsageError, match=rf"is damaged \({where}"):
        store.read(tmp_path)


def test_what_an_earlier_version_calls_by_an_old_name_is_known(tmp_path: Path) -> None:
    path = store.add(tmp_path, ENTRY)
    path.write_text(json.dumps(json.loads(path.read_text()) | {"values": {"canary: transfer between a and b": 1.0}}))
    assert store.read(tmp_path)[0].values == {"check run: transfer between a and b": 1.0}


def test_what_a_later_version_writes_beside_is_no_damage(tmp_path: Path) -> None:
    path = store.add(tmp_path, ENTRY)
    path.write_text(json.dumps(json.loads(path.read_text()) | {"of_tomorrow": [1]}))
    assert store.read(tmp_path) == [ENTRY]


def test_the_commit_of_the_checkout_is_kept(tmp_path: Path) -> None:
    """Which a side like "adaptive" does not name; a file of an earlier version has none."""
    what = gate_records.Measurement("g", PLAN, "adaptive", "vcluster, mpich", "2026", [], {}, [], commit="12ab")
    path = store.add(tmp_path, store.entry_of(judge(what), what, {}))
    assert store.read(tmp_path)[0].commit == "12ab"
    kept = json.loads(path.read_text())
    del kept["commit"]
    path.write_text(json.dumps(kept))
    assert store.read(tmp_path)[0].commit == ""


def test_a_store_that_cannot_be_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Failure, match="cannot be written"):
        store.add(tmp_path / "file" / "gates", ENTRY)


def test_a_store_that_cannot_be_is_known_before(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be read: Not a directory"):
        store.read(tmp_path / "file")
    for folder in ("file", "file/gates"):
        with pytest.raises(UsageError, match="cannot be written: Not a directory"):
            store.check(tmp_path / folder)
    store.check(tmp_path / "new" / "gates")
    store.check(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["file"], "and nothing is made"


def test_a_file_system_without_hard_links_is_known_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", none)
    with pytest.raises(UsageError, match=r"no hard link can be made there \(Operation not permitted\)"):
        store.check(tmp_path / "gates")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("wrong", "where"),
    [
        ({"ratios": {"1 MB": float("inf")}}, "ratios.1 MB"),
        ({"values": {"check": 0.0}}, "values.check"),
        ({"intervals": {"1 MB": [1.0, float("nan")]}}, "intervals.1 MB.1"),
    ],
)
def test_what_could_not_be_read_again_is_not_written(tmp_path: Path, wrong: dict[str, Any], where: str) -> None:
    """It would stop every later gate."""
    with pytest.raises(Failure, match=rf"is not put into the store .* \({where}: "):
        store.add(tmp_path / "gates", replace(ENTRY, **wrong))
    assert store.read(tmp_path / "gates") == []


def test_only_gates_of_the_same_place_are_held_against_each_other() -> None:
    other = replace(ENTRY, session="b", where="local, mpich")
    assert store.before([ENTRY, other, replace(ENTRY, session="c")], "c", ENTRY.where, ENTRY.time) == [ENTRY]


def test_gates_of_another_network_are_not_held_against_each_other() -> None:
    """The virtual nodes' rate may have been changed. An earlier version kept no words of it."""
    here, there, old = (replace(ENTRY, session=word, network=word) for word in ("1gbit", "10gbit", ""))
    elsewhere = replace(there, where="vcluster, openmpi", network="2.5gbit")
    kept, others = store.on_network([here, there, old, elsewhere], "1gbit", ENTRY.where)
    assert kept == [here]
    assert others == ["10gbit", "one not known"]


def test_gates_that_began_later_are_no_earlier_ones_of_a_gate_that_is_resumed() -> None:
    """Told again, it would be held against what came after it, and against a system that has changed since."""
    days = [f"2026-11-{day}T10:00:00" for day in range(23, 28)]
    later = [replace(ENTRY, session=day, time=day, verdict="system") for day in days]
    resumed = replace(ENTRY, session="resumed", time="2026-11-22T11:00:00", origin="12ab")
    every = [ENTRY, resumed, *later]
    assert store.before(every, resumed.session, resumed.where, resumed.time, resumed.origin) == [ENTRY]
    assert store.before(every, "now", ENTRY.where, "2026-11-28T10:00:00") == later


def told(words: str) -> list[store.Entry]:
    """Gates with these verdicts, one behind the other."""
    return [replace(ENTRY, session=str(number), verdict=word) for number, word in enumerate(words.split())]


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        ("same node commit system undecided", "0 2 4"),
        ("same same system system system system", "0 1"),
        ("same same system system system system system", "2 3 4 5 6"),
        ("same system system same system system system", "0 3"),
        ("same system system commit node system system system same", "1 2 5 6 7 8"),
        ("system system system system system system", "0 1 2 3 4"),
    ],
)
def test_a_system_that_stays_changed_is_a_new_one_after_five_gates(words: str, kept: str) -> None:
    before = store.before(told(words), "now", ENTRY.where, ENTRY.time)
    assert [one.session for one in before] == kept.split()


def test_a_disturbed_gate_says_nothing_of_the_system_whatever_its_verdict_is(tmp_path: Path) -> None:
    """A slower candidate on a slow node is the commit, a check run that failed sees none, and what broke off has few
    rounds."""
    what = simulated.gate({NEW: 1.08}, nodes={"b": 1.3})
    on_a_slow_node = store.entry_of(judge(what), what, {})
    blind = store.entry_of(judge(replace(simulated.gate(), check_run={})), what, {})
    broken_off = store.entry_of(judge(simulated.gate()), what, {}, whole=False)
    assert on_a_slow_node.verdict == "commit"
    for entry in (on_a_slow_node, broken_off, blind):
        store.add(tmp_path / entry.verdict, entry)
        (kept,) = store.read(tmp_path / entry.verdict)
        assert kept.disturbed and store.of_the_system([kept]) == []
    assert store.of_the_system([store.entry_of(judge(simulated.gate()), what, {})])
