# SPDX-License-Identifier: BSD-3-Clause
"""The commands that end with a table: what they say before anything is measured, of options without an effect too."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.cli import main
from harness.sessions import run as runs

CALLS = [
    *(
        [command, *more]
        for command in ("nodes", "harm", "engine-costs")
        for more in (["--system=local"], ["--resume", "nothing"])
    ),
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
