# SPDX-License-Identifier: BSD-3-Clause
"""The tables of other people's codes, of a session that is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.codes import main

ROOT = Path(__file__).resolve().parents[2]


def test_each_code_has_its_whole_time_under_each_variant(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(ROOT / "results/reference/codes-debian-openmpi")]) == 0
    head, _, *rows = capsys.readouterr().out.partition("\n\n")[0].splitlines()
    assert [word.strip() for word in head.strip("|").split("|")][2:] == ["bare, s", "adaptive", "idle", "offload"]
    assert len(rows) == 8 and all(row.count("[") == 3 for row in rows)


def test_a_session_that_is_not_there_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main([str(tmp_path / "nothing")])
    assert capsys.readouterr().err.startswith(f"codes: {tmp_path / 'nothing'}: no such session")
