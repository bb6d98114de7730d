# SPDX-License-Identifier: BSD-3-Clause
"""A test that fails beside others and passes alone is named; one that fails alone fails."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.commands import second_try

Run = Callable[[str], tuple[int, list[str]]]

# Fails in a worker of pytest-xdist, as a test does that others disturb.
BUSY = """
import os
def test_fails_beside_others(): assert "PYTEST_XDIST_WORKER" not in os.environ
def test_passes(): pass
"""
BROKEN = "def test_is_broken(): assert False\n"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs pytest over a file's text as ./bench test runs a group: its status and the tests that are not sound."""

    def started(argv: list[str], cwd: Path) -> int:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
        environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # it starts faster
        quiet = subprocess.DEVNULL
        return subprocess.run(argv, check=False, cwd=cwd, env=environment, timeout=60, stdout=quiet).returncode

    def run(text: str) -> tuple[int, list[str]]:
        (tmp_path / "test_it.py").write_text(text)
        (tmp_path / "pytest.ini").write_text("[pytest]\n")
        return second_try.run_group(["-p", "xdist", "--numprocesses=1", "--dist=loadscope"], tmp_path / "tests-1.xml")

    monkeypatch.setattr(second_try, "ROOT", tmp_path)
    monkeypatch.setattr("harness.base.process.attended", started)
    return run


def test_what_passes_alone_is_named(run: Run) -> None:
    status, names = run(BUSY)
    assert (status, names) == (0, ["test_it.test_fails_beside_others"])
    assert names[0] in second_try.told(names)


def test_what_fails_alone_fails(run: Run) -> None:
    assert run(BUSY + BROKEN) == (1, [])


def test_many_failures_have_no_second_try(run: Run, tmp_path: Path) -> None:
    busy = "\n".join(BUSY.replace("_others", f"_{number}") for number in range(second_try.MOST + 1))
    assert run(busy) == (1, [])
    assert not (tmp_path / "tests-1-again.xml").exists()
