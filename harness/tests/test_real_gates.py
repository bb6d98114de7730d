# SPDX-License-Identifier: BSD-3-Clause
"""The table of real gates: what is left to run, what was right, and that a second call goes on."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from analysis.gate import store
from harness.base import process
from harness.base.errors import UsageError
from harness.sessions import real, real_gates
from harness.sessions.real_gates import Kind
from harness.vcluster import cpus

KINDS = (Kind("same", 2, ("s",)), Kind("slower", 3, ("s",), 1.05))


def done(kind: str, verdict: str) -> dict[str, Any]:
    return {
        "kind": kind, "verdict": verdict, "sentence": "So.", "rounds": 20, "session": "g", "command": "./bench gate",
        "machine": "a machine", "commit": "12ab",
    }  # fmt: skip


def test_kinds_come_in_turn_and_what_is_done_is_left_out() -> None:
    assert [kind.name for kind in real.planned(KINDS, [])] == ["same", "slower", "same", "slower", "slower"]
    before = [done("same", "same"), done("slower", "commit")]
    assert [kind.name for kind in real.planned(KINDS, before)] == ["same", "slower", "slower"]


def test_the_table_counts_what_is_right() -> None:
    elsewhere = done("slower", "same") | {"machine": "another"}
    text = real_gates.table([done("same", "undecided"), done("slower", "commit"), elsewhere], KINDS)
    assert "| same | 1 | 1 | 1 undecided | 20 |" in text
    assert "| slower | 2 | 1 | 1 commit, 1 same | 20 |" in text
    assert "- 2 on a machine, commit 12ab.\n- 1 on another, commit 12ab.\n" in text


def test_a_second_call_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One gate fails: it is told of, and tried by the next call."""
    asked: list[str] = []

    def run(kind: Kind, _arguments: argparse.Namespace, _folder: Path, _store: Path) -> dict[str, Any] | None:
        asked.append(kind.name)
        return None if len(asked) == 2 else done(kind.name, "same")

    monkeypatch.setattr(real_gates, "KINDS", KINDS)
    monkeypatch.setattr(real_gates, "run", run)
    monkeypatch.setattr("harness.base.git.dirty", lambda _: False)
    monkeypatch.setattr("harness.setup.build.ensure", lambda _mpi: None)
    file = tmp_path / "gates.md"
    assert real_gates.main([str(file)]) == 1
    assert len(asked) == 5 and len(file.with_name("gates.md.jsonl").read_text().splitlines()) == 4
    assert real_gates.main([str(file)]) == 0
    assert asked[5:] == ["slower"]
    kept = [json.loads(line) for line in file.with_name("gates.md.jsonl").read_text().splitlines()]
    assert len(kept) == 5 and kept[0]["commit"] != "12ab", "each gate has the commit that it ran with"


def test_a_checkout_with_changes_has_no_commit_to_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("harness.base.git.dirty", lambda _: True)
    with pytest.raises(SystemExit) as ended:
        real_gates.main([str(tmp_path / "gates.md")])
    assert ended.value.code == 2 and "this checkout has changes" in capsys.readouterr().err


def test_words_that_no_kind_has_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else nothing is run, and all is well."""
    monkeypatch.setattr("harness.base.git.dirty", lambda _: False)
    with pytest.raises(UsageError, match="'latencies' is in no kind's name: overlap, the"):
        real_gates.main([str(tmp_path / "gates.md"), "--only", "latencies"])


def test_where_nodes_are_busy_one_verdict_alone_is_right() -> None:
    kinds = {kind.name: kind for kind in real_gates.KINDS if kind.busy}
    assert {kind.told for kind in kinds.values()} == {"node", "commit", "system"}
    for kind in kinds.values():
        assert kind.right(kind.told) and not any(map(kind.right, {"node", "commit", "system", "same"} - {kind.told}))


def test_a_copy_in_another_folder_has_to_be_the_same() -> None:
    """It is what the gate is for: undecided, or a node that is called slow, does not show it."""
    (kind,) = [kind for kind in real_gates.KINDS if kind.copy]
    assert kind.right("same") and not any(map(kind.right, ("undecided", "node", "system", "faster", "commit")))


def test_busy_nodes_are_so_for_as_long_as_a_gate_runs() -> None:
    def running() -> list[str]:
        found = process.answer(["pgrep", "--parent", str(os.getpid()), "--full", "while :; do :; done"], 20)
        return found.out.split()

    assert not running()
    with real_gates._kept_busy(["vc2"]):
        (first,) = running()
        affinity = os.sched_getaffinity(int(first))
        assert affinity == set(cpus.split(2)["vc2"])
    assert not running()


def test_gates_on_busy_nodes_wait_for_gates_on_quiet_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are held against what those left in the store, and leave nothing there themselves."""
    kinds = (Kind("all busy", 1, ("s",), busy=("vc1",), told="system"), Kind("quiet", 6, real_gates.OVERLAP))
    held: list[int] = []

    def answer(command: list[str], *_: object, **__: object) -> process.Answer:
        options = dict(word.removeprefix("--").split("=", 1) for word in command if word.startswith("--"))
        own = Path(options["store"])
        held.append(len(list(own.glob("*.gate.json"))))
        entry = store.Entry(str(len(held)), "2026", "vcluster, mpich", "a", "b", "same", {}, {})
        store.add(own, replace(entry, disturbed=len(held) == 2))
        found = done("", "same") | {"points": []}
        (Path(options["out"]) / "gate.json").write_text(json.dumps(found))
        return process.Answer(0, "", "")

    monkeypatch.setattr(real_gates, "KINDS", kinds)
    monkeypatch.setattr(real_gates, "_kept_busy", lambda _: contextlib.nullcontext())
    monkeypatch.setattr(process, "answer", answer)
    monkeypatch.setattr("harness.setup.build.ensure", lambda _mpi: None)
    monkeypatch.setattr("harness.base.machine.facts", lambda: {"cpu_model": "x", "cpus": 2, "kernel": "6"})
    monkeypatch.setattr("harness.base.git.commit_of", lambda *_: "12ab")
    monkeypatch.setattr("harness.base.git.dirty", lambda _: False)
    file = tmp_path / "gates.md"
    assert real_gates.main([str(file), "--only=busy"]) == 0 and not held
    assert real_gates.main([str(file), "--minutes-in-all=0"]) == 0 and not held
    assert real_gates.main([str(file), "--count=5"]) == 0 and len(held) == 5, "four of them are of the quiet system"
    assert real_gates.main([str(file)]) == 0
    assert held == [0] * 6 + [6]
    assert len(list((tmp_path / "gates.md.store").iterdir())) == 6
