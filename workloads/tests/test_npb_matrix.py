# SPDX-License-Identifier: BSD-3-Clause
"""The script that runs NPB's large classes: its order, what it leaves out and says of it, and that it goes on."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workloads.tests import npb_matrix as matrix
from workloads.tests.conftest import Launcher, Result

FEW = ("--variants", "bare,adaptive", "--mpis", "mpich,openmpi", "--limit", "120")
Behaviour = Callable[[Launcher, int, str, str], Result]


def verified(_launcher: Launcher, ranks: int, _kernel: str, _point: str) -> Result:
    return Result(0, "", [{"point": {}, "samples": {"mops": [1234.56]}} for _ in range(ranks)])


@pytest.fixture
def launches(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What was launched; two CPUs."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    return behave(monkeypatch, verified)


def behave(monkeypatch: pytest.MonkeyPatch, behaviour: Behaviour) -> list[tuple[Any, ...]]:
    seen: list[tuple[Any, ...]] = []

    def measure(launcher: Launcher, ranks: int, kernel: str, point: str) -> Result:
        seen.append((launcher.variant, ranks, kernel, point, launcher.mpi.name))
        return behaviour(launcher, ranks, kernel, point)

    monkeypatch.setattr(matrix, "measure", measure)
    return seen


def test_what_is_named_first_is_launched_first(launches: list[tuple[Any, ...]], tmp_path: Path) -> None:
    out = str(tmp_path / "b.jsonl")
    asked = ("--class", "B", "--ranks", "2,4", "--kernels", "lu,cg", *FEW)
    assert matrix.main(["--out", out, *asked]) == 0
    points = [("lu", "class=B"), ("cg", "class=B,mode=blocking"), ("cg", "class=B,mode=overlapped")]
    assert launches == [
        (variant, ranks, *point, mpi)
        for variant in ("bare", "adaptive")
        for ranks in (2, 4)
        for point in points
        for mpi in ("mpich", "openmpi")
    ]


def test_it_goes_on_where_it_was_ended(launches: list[tuple[Any, ...]], tmp_path: Path) -> None:
    out = tmp_path / "b.jsonl"
    asked = ["--out", str(out), "--class", "B", "--kernels", "is", "--ranks", "1,2", *FEW]
    assert matrix.main(asked) == 0
    lines = out.read_text().splitlines(keepends=True)
    assert len(lines) == len(launches) == 16
    assert {(line["end"], line["mops"]) for line in map(json.loads, lines)} == {("verified", 1234.6)}
    assert all({"commit", "cpu", "began", "took_s"} <= set(json.loads(line)) for line in lines)
    out.write_text("".join(lines[:13]))
    launches.clear()
    assert matrix.main(asked) == 0
    assert len(launches) == 3
    assert matrix.main([*asked[:3], "A", *asked[4:]]) == 0, "another class is something else"
    assert len(launches) == 19


def test_launches_of_one_rank_share_the_cpus_and_others_do_not(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    both, running, most = threading.Barrier(2, timeout=20), {1: 0, 2: 0}, {1: 0, 2: 0}

    def beside(launcher: Launcher, ranks: int, kernel: str, point: str) -> Result:
        running[ranks] += 1
        most[ranks] = max(most[ranks], running[ranks])
        if ranks == 1:
            both.wait()  # for the other
        running[ranks] -= 1
        return verified(launcher, ranks, kernel, point)

    behave(monkeypatch, beside)
    asked = ("--class", "B", "--kernels", "lu", "--ranks", "1,2", *FEW)
    assert matrix.main(["--out", str(tmp_path / "b.jsonl"), *asked]) == 0
    assert most == {1: 2, 2: 1}


def test_what_takes_too_long_is_named_and_left_out_under_the_next_variant(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def slow(launcher: Launcher, ranks: int, kernel: str, point: str) -> Result:
        if (ranks, launcher.mpi.name) == (4, "openmpi"):
            raise subprocess.TimeoutExpired([], launcher.timeout_s)
        return verified(launcher, ranks, kernel, point)

    seen = behave(monkeypatch, slow)
    out = str(tmp_path / "b.jsonl")
    assert matrix.main(["--out", out, "--class", "B", "--kernels", "lu", "--ranks", "2,4", *FEW]) == 0
    assert ("adaptive", 4, "lu", "class=B", "openmpi") not in seen
    assert ("adaptive", 2, "lu", "class=B", "openmpi") in seen
    launched = capsys.readouterr().out
    assert matrix.main(["--out", out]) == 0, "the table alone"
    table = capsys.readouterr().out
    assert launched.endswith(table)
    assert "| LU | blocking | 4 of 4 verified | 2 of 4 verified, 1 too long, 1 left out |" in table
    assert "- longer than 120 s: LU, blocking, ranks 4: openmpi bare\n" in table
    assert "- left out after that: LU, blocking, ranks 4: openmpi adaptive\n" in table


def test_a_wrong_result_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def wrong(launcher: Launcher, ranks: int, kernel: str, point: str) -> Result:
        assert launcher.mpi.name != "mpich", "class B: wrong"
        return verified(launcher, ranks, kernel, point)

    behave(monkeypatch, wrong)
    asked = ("--class", "B", "--kernels", "lu", "--ranks", "2", *FEW)
    assert matrix.main(["--out", str(tmp_path / "b.jsonl"), *asked]) == 1
    table = capsys.readouterr().out
    assert "| LU | blocking | 2 of 4 verified, 2 failed |" in table
    assert "- failed: LU, blocking, ranks 2: mpich bare, mpich adaptive" in table


@pytest.mark.parametrize(("option", "name"), [("--kernels", "ep"), ("--mpis", "lam"), ("--variants", "fast")])
def test_what_it_does_not_know_is_refused(
    option: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        matrix.main(["--out", str(tmp_path / "b.jsonl"), "--class", "B", option, name])
    assert f"{name}: " in capsys.readouterr().err
