# SPDX-License-Identifier: BSD-3-Clause
"""./bench notebook: which there are, whose copy is opened, on which session."""

from __future__ import annotations

import contextlib
import importlib
import os
import re
from pathlib import Path

import pytest
import typer

from harness.base import archive
from harness.base.errors import UsageError
from harness.base.paths import ROOT
from harness.setup import environment
from harness.tests.pages import commands, take

command = importlib.import_module("harness.commands.notebook")  # the package has the function by this name
DEMO = archive.folder_of(ROOT / "results" / "reference" / "demo")


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], dict[str, str]]]:
    """What would be run, where nothing is installed or opened."""
    calls: list[tuple[list[str], dict[str, str]]] = []
    monkeypatch.setattr(command, "COPIES", tmp_path / "copies")
    monkeypatch.setattr(environment, "ensure_group", lambda _name: None)
    monkeypatch.setattr(os, "execve", lambda _path, words, variables: calls.append((words, variables)))

    def convert(_title: str, words: list[str]) -> None:
        Path(words[words.index("--output") + 1]).write_text(Path(words[-1]).read_text())

    monkeypatch.setattr(command, "run_step", convert)
    return calls


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("*.py")), ids=lambda path: path.stem)
def test_the_commands_of_its_prose_are_commands_with_these_options(path: Path) -> None:
    text = path.read_text().replace("\\\n#      ", "")
    named = re.findall(r"^#     (\./bench .*)$", text, re.MULTILINE) + re.findall(r"`(\./bench [^`]+)`", text)
    assert named
    for arguments in commands(named):
        with contextlib.suppress(typer.Exit):  # of --help: what is spoken of may lack arguments
            take([*arguments, "--help"])


def test_without_a_name_they_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.notebook() == 0
    said = capsys.readouterr().out
    for name in ("pioman", "miwa", "ruhela", "fukuoka", "gemini", "regression-to-cause", "tuning"):
        assert f"{name} " in said
    assert "does-mpi-progress     Does MPI progress on my cluster?" in said


def test_jupyterlab_opens_a_copy_on_the_session(
    started: list[tuple[list[str], dict[str, str]]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OVERLAP_BENCH_SESSION", raising=False)
    command.notebook("does-mpi-progress", session=str(DEMO), browser=False)
    ((words, variables),) = started
    assert words[0].endswith("bin/jupyter-lab")
    assert words[-1] == str(tmp_path / "copies" / "does_mpi_progress.ipynb")
    assert "--no-browser" in words
    assert variables["OVERLAP_BENCH_SESSION"] == f"'{DEMO}'"
    command.notebook("tuning")
    assert "OVERLAP_BENCH_SESSION" not in started[1][1]


def test_ones_own_copy_is_kept_unless_another_is_asked_for(
    started: list[tuple[list[str], dict[str, str]]], tmp_path: Path
) -> None:
    copy = tmp_path / "copies" / "pioman.ipynb"
    command.notebook("pioman")
    copy.write_text("mine")
    command.notebook("pioman")
    assert copy.read_text() == "mine"
    command.notebook("pioman", anew=True)
    assert "Denis" in copy.read_text()
    assert len(started) == 3


def test_a_name_or_session_that_is_not_there(started: list[tuple[list[str], dict[str, str]]]) -> None:
    with pytest.raises(UsageError, match="no notebook 'piomann': choose one of does-mpi-progress, fukuoka"):
        command.notebook("piomann")
    with pytest.raises(UsageError, match="no session 'nowhere'"):
        command.notebook("pioman", session="nowhere")
    assert not started
