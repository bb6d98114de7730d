# SPDX-License-Identifier: BSD-3-Clause
"""The store of gates: whole files alone, two writers at once, and what is damaged is named and left as it is."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.errors import Failure, UsageError
from analysis.gate import measured, store
from analysis.gate.judge import judge

PLAN = measured.Plan(12, [12], 0.02, "adaptive", "timer")
ENTRY = store.Entry("20261122-gate", "2026-11-22T10:00:00", "vcluster, mpich", "adaptive", "timer", "same", {}, {})


def test_what_was_put_in_comes_out_by_time(tmp_path: Path) -> None:
    later = replace(ENTRY, session="a", time="2026-11-23T10:00:00", ratios={"1 MB": 1.25})
    for entry in (later, ENTRY):
        store.add(tmp_path / "gates", entry)
    assert store.read(tmp_path / "gates") == [ENTRY, later]
    assert store.read(tmp_path / "none") == []


def test_many_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    entries = [replace(ENTRY, session=f"gate-{number:03d}") for number in range(60)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda entry: store.add(tmp_path, entry), entries))
    assert store.read(tmp_path) == entries
    assert not list(tmp_path.glob(".*"))


def test_a_gate_that_told_is_never_written_over(tmp_path: Path) -> None:
    path = store.add(tmp_path, ENTRY)
    before = path.read_bytes()
    store.add(tmp_path, ENTRY)
    with pytest.raises(UsageError, match="another gate of session"):
        store.add(tmp_path, replace(ENTRY, verdict="commit"))
    assert path.read_bytes() == before


def test_a_gate_that_went_on_takes_the_place_of_what_could_not_tell(tmp_path: Path) -> None:
    store.add(tmp_path, replace(ENTRY, verdict="undecided"))
    store.add(tmp_path, replace(ENTRY, verdict="node", where="vcluster (other nodes), mpich"))
    for other in (replace(ENTRY, time="2026-11-22T10:00:01"), replace(ENTRY, new="idle")):
        with pytest.raises(UsageError, match="another gate of session"):
            store.add(tmp_path, other)
    store.add(tmp_path, ENTRY)
    assert store.read(tmp_path) == [ENTRY]
    with pytest.raises(UsageError, match="another gate of session"):
        store.add(tmp_path, replace(ENTRY, verdict="undecided"))
    assert [path.name for path in tmp_path.iterdir()] == ["20261122-gate.gate.json"]


def test_gates_of_one_second_in_two_folders_of_results_are_both_kept(tmp_path: Path) -> None:
    """Their sessions have one name."""
    ours, theirs = replace(ENTRY, origin="12ab"), replace(ENTRY, origin="34cd", verdict="commit")
    for entry in (ours, theirs):
        store.add(tmp_path, entry)
    assert sorted(store.read(tmp_path), key=lambda one: one.origin) == [ours, theirs]
    assert store.before([ours, theirs], ENTRY.session, ENTRY.where, "12ab") == [theirs]


@pytest.mark.parametrize("damage", [b"", b'{"session": "x"}', b"\xff\x00", b"[1"])
def test_a_damaged_file_is_named_and_left(tmp_path: Path, damage: bytes) -> None:
    store.add(tmp_path, ENTRY)
    broken = tmp_path / f"broken{store.SUFFIX}"
    broken.write_bytes(damage)
    with pytest.raises(UsageError, match=r"broken\.gate\.json .* is damaged"):
        store.read(tmp_path)
    assert broken.read_bytes() == damage


def test_what_a_later_version_writes_beside_is_no_damage(tmp_path: Path) -> None:
    path = store.add(tmp_path, ENTRY)
    path.write_text(json.dumps(json.loads(path.read_text()) | {"of_tomorrow": [1]}))
    assert store.read(tmp_path) == [ENTRY]


def test_the_commit_of_the_checkout_is_kept(tmp_path: Path) -> None:
    """Which an arm like "adaptive" does not name; a file of an earlier version has none."""
    what = measured.Measurement("g", PLAN, "adaptive", "vcluster, mpich", "2026", [], {}, [], commit="12ab")
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


def test_only_gates_of_the_same_place_are_held_against_each_other() -> None:
    other = replace(ENTRY, session="b", where="local, mpich")
    assert store.before([ENTRY, other, replace(ENTRY, session="c")], "c", ENTRY.where) == [ENTRY]
