# SPDX-License-Identifier: BSD-3-Clause
"""The table of real gates: what is left to run, what was right, and that a second call goes on."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

from harness.sessions import real_gates
from harness.sessions.real_gates import Kind

KINDS = (Kind("same", 2, ("s",)), Kind("slower", 3, ("s",), 1.05))


def done(kind: str, verdict: str) -> dict[str, Any]:
    return {
        "kind": kind, "verdict": verdict, "sentence": "So.", "rounds": 20, "session": "g", "command": "./bench gate",
        "machine": "a machine", "commit": "12ab",
    }  # fmt: skip


def test_kinds_come_in_turn_and_what_is_done_is_left_out() -> None:
    assert [kind.name for kind in real_gates.planned(KINDS, [])] == ["same", "slower", "same", "slower", "slower"]
    before = [done("same", "same"), done("slower", "commit")]
    assert [kind.name for kind in real_gates.planned(KINDS, before)] == ["same", "slower", "slower"]


def test_the_table_counts_what_is_right() -> None:
    text = real_gates.table([done("same", "undecided"), done("slower", "commit"), done("slower", "same")], KINDS)
    assert "| same | 1 | 1 | 1 undecided | 20 |" in text
    assert "| slower | 2 | 1 | 1 commit, 1 same | 20 |" in text
    assert "a machine, commit 12ab." in text


def test_a_second_call_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One gate fails: it is told of, and tried by the next call."""
    asked: list[str] = []

    def run(kind: Kind, _arguments: argparse.Namespace, _folder: Path) -> dict[str, Any] | None:
        asked.append(kind.name)
        return None if len(asked) == 2 else done(kind.name, "same")

    monkeypatch.setattr(real_gates, "KINDS", KINDS)
    monkeypatch.setattr(real_gates, "run", run)
    monkeypatch.setattr("harness.setup.build.ensure", lambda _mpi: None)
    file = tmp_path / "gates.md"
    assert real_gates.main([str(file)]) == 1
    assert len(asked) == 5 and len(file.with_name("gates.md.jsonl").read_text().splitlines()) == 4
    assert real_gates.main([str(file)]) == 0
    assert asked[5:] == ["slower"]
    kept = [json.loads(line) for line in file.with_name("gates.md.jsonl").read_text().splitlines()]
    assert len(kept) == 5 and kept[0]["commit"] != "12ab", "each gate has the commit that it ran with"
