# SPDX-License-Identifier: BSD-3-Clause
"""What the trace of a reduction's calls says of each rank."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.benchmarks import reduces


def test_each_call_belongs_to_the_wait_behind_it(tmp_path: Path) -> None:
    calls = [(2, 0, 5), (1, 10.0, 10.25), (2, 10.25, 18.0), (4, 18.0, 19.0)]  # a wait for something else comes first
    calls += [(1, 20.0, 20.25), (4, 21.0, 22.0), (2, 28.25, 29.0), (1, 30.0, 31.0), (2, 39.0, 39.5)]
    lines = [f"{call} {begin / 1e3:.9f} {end / 1e3:.9f}" for call, begin, end in calls]
    (tmp_path / "some.rank-1.txt").write_text("\n".join(lines) + "\n")
    assert reduces.table(tmp_path) == [
        ["some", "1", "alone", "1", "0.25", "0.00", "7.75", "8.00"],
        ["some", "1", "computing, root", "1", "0.25", "8.00", "0.75", "9.00"],
        ["some", "1", "computing, other", "1", "1.00", "8.00", "0.50", "9.50"],
    ]


def test_where_there_is_no_trace_it_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert reduces.main([str(tmp_path)]) == 2
    assert "NAME.rank-R.txt" in capsys.readouterr().err
    (tmp_path / "some.rank-0.txt").write_text("1 begun ended\n")
    assert reduces.main([str(tmp_path)]) == 2
    assert "could not convert string to float: 'begun'" in capsys.readouterr().err
