# SPDX-License-Identifier: BSD-3-Clause
"""The tables of other people's codes on the pages are those of the sessions that are kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.codes import main

ROOT = Path(__file__).resolve().parents[2]
PAGES = "".join(
    (ROOT / "docs/measured" / f"{name}.md").read_text() for name in ("third-party-codes", "imb-under-the-engine")
)


@pytest.mark.parametrize(
    "arguments",
    [
        ["codes-debian-openmpi"],
        ["codes-by-hand"],
        pytest.param(["--size", "1024", "codes-imb"], marks=pytest.mark.full),
        pytest.param(["--size", "1048576", "codes-imb"], marks=pytest.mark.full),
        pytest.param(["--size", "1024", "codes-imb-looks"], marks=pytest.mark.full),
    ],
    ids=" ".join,
)
def test_each_table_is_of_its_session(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    session = arguments[-1]
    assert main([*arguments[:-1], str(ROOT / "results/reference" / session)]) == 0
    table = capsys.readouterr().out
    rows = [line for line in table.splitlines() if " Open MPI" in line or " MPICH " in line or " Intel MPI" in line]
    assert len(rows) > 1 and all("[" in row for row in rows)
    assert table in PAGES
    assert f"`results/reference/{session}`" in PAGES


def test_a_session_that_is_not_there_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main([str(tmp_path / "nothing")])
    assert capsys.readouterr().err.startswith(f"codes: {tmp_path / 'nothing'}: no such session")
