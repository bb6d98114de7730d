# SPDX-License-Identifier: BSD-3-Clause
"""The command line as a whole: how it starts, how it is ended, what it lists. Wrong calls: test_wrong_calls.py."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.base.errors import UsageError
from harness.base.paths import ROOT
from harness.cli import main
from harness.sessions import run as runs
from harness.tests.sessions import results
from reframe_checks.catalogue import studies

__all__ = ["results"]


def test_a_debian_mpi_that_is_not_installed_is_named_with_its_packages(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], results: Path
) -> None:
    monkeypatch.setattr("harness.base.mpis.Mpi.installed", lambda _self: False)
    assert main(["run", "overlap-ratio", "--mpi", "debian-mpich"]) == 2
    assert "apt-get install mpich libmpich-dev" in capsys.readouterr().err
    assert not results.exists()


def test_a_results_folder_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # a file where the folder should be: root may write into any folder, whatever its mode
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("OVERLAP_BENCH_RESULTS", str(tmp_path / "file"))
    monkeypatch.setattr("harness.sessions.run.set_up", lambda _request: None)
    assert main(["run", "overlap-ratio", "--system", "local", "--scale", "test"]) == 2
    assert "cannot be written" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


@pytest.mark.parametrize(
    "command",
    [[], ["demo"], ["test"], ["claims"], ["compare"], ["run"], ["report"], ["mpirun"], ["exec"], ["list"], ["doctor"]],
)
def test_every_command_has_help_with_an_example(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command, "--help"]) == 0
    assert "xample: ./bench" in capsys.readouterr().out or not command


@pytest.mark.parametrize("command", ["run", "scaling", "mpirun", "compare-program", "harm", "tune"])
def test_the_help_says_what_stands_between_several_settings(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "several settings with ':' between" in told or "V:key=value:key=value" in told


def test_an_old_python_is_told_in_a_sentence(tmp_path: Path) -> None:
    source = (ROOT / "bench").read_text().replace("OLDEST = (3, 10)", "OLDEST = (9, 0)")
    copy = tmp_path / "bench"
    copy.write_text(source)
    done = subprocess.run([sys.executable, copy], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 2
    assert done.stderr.startswith("bench: Python 9.0 or newer is needed")
    assert len(done.stderr.splitlines()) == 1


BREAKS = """
import builtins
load = builtins.__import__
def interrupted(name, *rest, **more):
    if name == {module!r}:
        raise {error}
    return load(name, *rest, **more)
builtins.__import__ = interrupted
"""


BOTH = pytest.mark.parametrize(
    ("module", "command"),
    [("harness.setup.bootstrap", [str(ROOT / "bench")]), ("harness.cli", ["-m", "harness"])],
    ids=["the one command", "what it becomes"],
)


def loaded(module: str, error: str, folder: Path, call: list[str]) -> subprocess.CompletedProcess[str]:
    """A call of Python that comes to an error when it loads this module."""
    (folder / "sitecustomize.py").write_text(BREAKS.format(module=module, error=error))
    environment = os.environ | {"PYTHONPATH": f"{folder}:{ROOT}"}
    whole = [sys.executable, *call]
    return subprocess.run(whole, env=environment, capture_output=True, text=True, check=False, timeout=120)


@BOTH
@pytest.mark.parametrize(("words", "status"), [(["list"], 1), (["--yes", "gate"], 3)])
def test_ctrl_c_while_it_is_loaded_is_told_in_a_sentence(
    module: str, command: list[str], words: list[str], status: int, tmp_path: Path
) -> None:
    """Of a gate status 1 would say that the candidate is slower."""
    done = loaded(module, "KeyboardInterrupt", tmp_path, [*command, *words])
    assert (done.returncode, done.stderr) == (status, "bench: interrupted\n")


@BOTH
def test_a_defect_while_a_gate_is_loaded_is_no_slower_candidate(
    module: str, command: list[str], tmp_path: Path
) -> None:
    done = loaded(module, "KeyError", tmp_path, [*command, "gate"])
    assert done.returncode == 3 and "Traceback" in done.stderr


def test_ctrl_c_while_the_commands_are_read(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("harness.cli._command", interrupted)
    for command, status in {"list": 1, "gate": 3}.items():
        assert main([command]) == status
        assert capsys.readouterr().err == "bench: interrupted\n"


def test_a_second_start_sets_nothing_up_again() -> None:
    """Which it would say."""
    done = subprocess.run([ROOT / "bench", "--version"], capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_listed_study_has_its_title_and_its_source_as_sentences(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "1000")
    assert main(["list"]) == 0
    told = capsys.readouterr().out
    for study in studies().values():
        title = study.title if study.title.endswith("?") else f"{study.title}."
        assert f"{title} {study.source}." in told
    assert ".." not in told and "?." not in told


def test_the_quick_table_says_what_a_run_would_be(capsys: pytest.CaptureFixture[str], results: Path) -> None:
    assert main(["list", "--quick-table", "--json"]) == 0
    rows = {row["study"]: row for row in json.loads(capsys.readouterr().out)}
    assert main(["run", "overlap-ratio", "--dry-run"]) == 0
    planned = capsys.readouterr().out.splitlines()[:-1]
    assert len(planned) == len(rows["overlap-ratio"]["MPIs"].split(", "))
    words = [line.split() for line in planned]
    launches = [int(line[line.index("launches") - 1]) for line in words]
    fewest, most = ([int(line[line.index("points") + at]) for line in words] for at in (-3, -1))
    assert sum(launches) == rows["overlap-ratio"]["launches"]
    measured = rows["overlap-ratio"]["points"]
    assert sum(map(int.__mul__, launches, fewest)) < measured < sum(map(int.__mul__, launches, most))
    assert main(["list", "--quick-table"]) == 0
    assert "in all about" in capsys.readouterr().out
    assert not results.exists()


def test_a_setting_that_the_engine_does_not_know_stops_a_run_before_it_begins(tmp_path: Path) -> None:
    """It is asked of progress-run, which alone knows; what it says for another reason is for the launches."""
    program = tmp_path / "progress-run"
    program.write_text("#!/bin/sh\necho \"progress-run: unknown setting 'brust'\" >&2\nexit 2\n")
    program.chmod(0o755)
    with pytest.raises(UsageError, match="Variant 'adaptive:brust=5': unknown setting 'brust'"):
        runs.check_settings(["bare", "adaptive", "adaptive:brust=5"], tmp_path)
    program.write_text("#!/bin/sh\nexit 1\n")
    runs.check_settings(["adaptive:brust=5"], tmp_path)
