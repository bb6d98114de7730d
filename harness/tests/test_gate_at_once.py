# SPDX-License-Identifier: BSD-3-Clause
"""Processes that use one store of gates at the same time: nothing is lost, nothing is read half, whoever is killed."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from multiprocessing.context import ForkContext, ForkProcess
from pathlib import Path
from typing import Any

import pytest

from analysis.gate import store
from analysis.tests.test_gate_store import ENTRY
from harness.base.paths import ROOT

WRITERS, EACH = 4, 7
FORK: ForkContext = multiprocessing.get_context("fork")


def together(count: int, body: Callable[..., None], *words: Any) -> list[ForkProcess]:
    """Processes that begin at once, each with its number."""
    begin = FORK.Barrier(count)

    def begun(number: int) -> None:
        begin.wait(120)
        body(number, *words)

    found = [FORK.Process(target=begun, args=(number,)) for number in range(count)]
    for one in found:
        one.start()
    return found


def ended(processes: list[ForkProcess]) -> list[int | None]:
    for one in processes:
        one.join(120)
    return [one.exitcode for one in processes]


def entries(writer: int) -> list[store.Entry]:
    return [replace(ENTRY, session=f"gate-{writer}-{number:02d}") for number in range(EACH)]


def write_and_read(number: int, folder: Path) -> None:
    """What was put there is there, and what others put there meanwhile is whole."""
    for count, entry in enumerate(entries(number), 1):
        store.add(folder, entry)
        mine = [one for one in store.read(folder) if one.session.startswith(f"gate-{number}-")]
        assert mine == entries(number)[:count]


def test_gates_that_write_and_read_at_once_lose_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "made" / "by whoever is first"
    assert ended(together(WRITERS, write_and_read, folder)) == [0] * WRITERS
    assert store.read(folder) == [entry for writer in range(WRITERS) for entry in entries(writer)]
    assert len(list(folder.iterdir())) == WRITERS * EACH, "and no file that was not finished"


@pytest.mark.full
def test_history_is_told_while_gates_write(tmp_path: Path) -> None:
    store.add(tmp_path, ENTRY)
    writing = together(2, write_and_read, tmp_path)
    asked = [sys.executable, "-m", "harness", "history", "--store", str(tmp_path)]
    said = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert ended(writing) == [0, 0]
    assert said.returncode == 0 and ENTRY.session in said.stdout, said.stderr


def tell(number: int, folder: Path) -> None:
    store.add(folder, replace(ENTRY, verdict="same" if number else "system", records=97))


def test_one_gate_that_is_told_by_several_at_once_is_kept_once(tmp_path: Path) -> None:
    assert ended(together(WRITERS, tell, tmp_path)) == [0] * WRITERS
    assert len(list(tmp_path.iterdir())) == len(store.read(tmp_path)) == 1


def killed(_number: int, folder: Path) -> None:
    os.link = lambda *_: os.kill(os.getpid(), signal.SIGKILL)  # when all is written, and nothing is in its place
    store.add(folder, ENTRY)


def test_a_gate_that_is_killed_while_it_writes_leaves_the_store_whole(tmp_path: Path) -> None:
    other = replace(ENTRY, session="another")
    store.add(tmp_path, other)
    assert ended(together(1, killed, tmp_path)) == [-signal.SIGKILL]
    assert store.read(tmp_path) == [other]
    store.add(tmp_path, ENTRY)
    assert store.read(tmp_path) == [ENTRY, other]


def test_what_was_listed_and_is_gone_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody takes a damaged file away while a gate reads."""
    store.add(tmp_path, ENTRY)
    listed = [*tmp_path.iterdir(), tmp_path / f"gone{store.SUFFIX}"]
    monkeypatch.setattr(Path, "iterdir", lambda _: iter(listed))
    assert store.read(tmp_path) == [ENTRY]
