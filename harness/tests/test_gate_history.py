# SPDX-License-Identifier: BSD-3-Clause
"""./bench history: which commits it names, and of which comparison a change is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from analysis.gate import store
from harness.cli import main

OLD, NEW, CHECKOUT = "0123456789abcdef" * 2 + "01234567", "f" * 40, "c" * 40


def entry(number: int, ratio: float) -> store.Entry:
    return store.Entry(
        session=f"gate-{number:02d}",
        time=f"2026-11-{number + 1:02d}",
        where="vcluster (vc1, vc2), mpich",
        base=f"commit:{OLD}",
        new=f"commit:{NEW},timer" if number >= 10 else "adaptive",
        verdict="same",
        ratios={"overlap: 1 MB": ratio},
        values={},
        commit=CHECKOUT,
    )


def test_the_commits_of_a_gate_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in (1, 11):
        store.add(tmp_path, entry(number, 1.0))
    assert main(["history", "--store", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert f"| adaptive | commit:{OLD[:12]} | {CHECKOUT[:12]} | same | gate-01 |" in said
    assert f"| commit:{NEW[:12]},timer | commit:{OLD[:12]} |" in said


def test_a_change_is_told_with_what_was_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(20):
        slower = 1.1 if number >= 10 else 1.0
        store.add(tmp_path, replace(entry(number, slower + number / 1e4), new=f"commit:{NEW}"))
    assert main(["history", "--store", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert f"overlap: 1 MB on vcluster (2 nodes), mpich, against commit:{OLD}: +10" in said
    assert f"since gate-10 (commit:{NEW[:12]} of checkout {CHECKOUT[:12]})" in said
