# SPDX-License-Identifier: BSD-3-Clause
"""The commands that end with a table: what they say before anything is measured, of options without an effect too."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.cli import main
from harness.sessions import run as runs

MEASURED = {  # command -> options and words that only a measurement has
    "nodes": ("--nodes=8", "--launches=4", "--system=local", "--force", "--resume=x"),
    "harm": ("--mpi=mpich", "--variant=idle", "--only=fft", "--scale=test", "--list", "--force", "--resume=x"),
    "engine-costs": ("--part=calls", "--mpi=mpich", "--launches=4", "--seed=2", "--force", "--resume=x"),
    "scaling": ("--ranks=2", "--mpi=mpich", "--set=size_bytes=8", "--launches=4", "--list", "scaling-halo"),
}
RESUMED = {"nodes": "--nodes=8", "harm": "--variant=idle", "engine-costs": "--part=calls"}


@pytest.mark.parametrize("command", MEASURED)
def test_a_table_of_a_session_takes_no_option_of_a_measurement(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for given in MEASURED[command]:
        assert main([command, "--table", "nothing", given]) == 2
        option = given.partition("=")[0] if given.startswith("-") else "the studies"
        assert f"--table measures nothing: leave {option} out." in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("command", RESUMED)
def test_a_session_that_goes_on_takes_no_option_of_a_new_one(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    given = RESUMED[command]
    assert main([command, "--resume", "nothing", given]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert f"--resume goes on with what its session was asked for: leave {given.partition('=')[0]} out." in said


CALLS = [
    *([command, *more] for command in RESUMED for more in (["--system=local"], ["--resume", "nothing"])),
    ["scaling"],
    ["compare-program", "--mpi=mpich", "--system=local", "--", "true"],
]


@pytest.mark.parametrize("call", CALLS, ids=" ".join)
def test_a_table_that_cannot_be_written_is_known_before_anything_is_measured(
    call: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(runs, "set_up", lambda _: pytest.fail("it goes on"))
    (tmp_path / "file").write_text("")
    for out, why in {"file/table": "Not a directory", "none/table": "No such file", "": "Is a directory"}.items():
        given = f"--out={tmp_path / out}"
        assert main([call[0], given, *call[1:]]) == 2
        assert f"cannot be written ({why}" in " ".join(capsys.readouterr().err.split())
    assert [path.name for path in tmp_path.iterdir()] == ["file"], "and nothing is made"
