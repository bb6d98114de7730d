# SPDX-License-Identifier: BSD-3-Clause
"""A comparison fails closed where some launches of a point failed, lack its quantity or did other work."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from analysis.compare.comparison import Comparison, Judgement, PointVerdict
from analysis.compare.judge import compare
from analysis.tests.synthetic import write_lines
from analysis.tests.test_compare_whole import latency, overlap

Line = dict[str, Any]
TIMEOUT: Line = {"status": "timeout", "reason": "did not end within 60 s", "samples": {}}


def changed(session: Path, files: str, change: Callable[[Line], Line], count: int = 1) -> Path:
    """The session with every point line of the first so many of these files changed."""
    for file in sorted((session / "records").glob(files))[:count]:
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        write_lines(file, [change(line) if "point" in line else line for line in lines])
    return session


def timed_out(session: Path, files: str = "*adaptive*", count: int = 1) -> Path:
    return changed(session, files, lambda line: {**line, **TIMEOUT}, count)


def of_adaptive(found: Comparison) -> list[PointVerdict]:
    return [point for point in found.points if point.variant == "adaptive"]


def test_one_of_six_launches_that_hangs_is_a_regression(tmp_path: Path) -> None:
    base, new = overlap(tmp_path / "base"), overlap(tmp_path / "new", seed=2)
    assert compare(base, new).status == 0
    found = compare(base, timed_out(new))
    assert (found.regression, found.status) == (True, 1)
    for point in of_adaptive(found):
        assert (point.verdict, point.lost, point.launches) == (Judgement.CANNOT_TELL, True, (6, 5))
        assert "1 of 6 launches failed in NEW (timeout: did not end within 60 s)" in point.reason
    assert "3 points failed in launches of NEW, and not or in fewer of BASE." in found.sentence
    assert found.markdown().count("| fails more often |") == 3
    assert found.junit().count("<failure") == 4
    assert {point.verdict for point in found.points if point.variant == "bare"} == {Judgement.SAME}


def test_what_came_through_may_be_slower_and_is_not_faster(tmp_path: Path) -> None:
    base = overlap(tmp_path / "base")
    slower = compare(base, timed_out(overlap(tmp_path / "slower", seed=2, slowdown=1.2)))
    assert {(point.verdict, point.lost) for point in of_adaptive(slower)} == {(Judgement.SLOWER, True)}
    faster = compare(base, timed_out(overlap(tmp_path / "faster", seed=2, slowdown=0.8), "*", 12))
    assert faster.verdict is Judgement.CANNOT_TELL
    faster = compare(base, timed_out(overlap(tmp_path / "fast", seed=2, slowdown=0.8)))
    assert {point.verdict for point in of_adaptive(faster)} == {Judgement.CANNOT_TELL}
    assert faster.status == 1


def test_as_many_failures_as_in_base_are_said_and_no_regression(tmp_path: Path) -> None:
    base, new = (timed_out(overlap(tmp_path / name, seed=seed)) for seed, name in enumerate(("base", "new")))
    found = compare(base, new)
    assert found.status == 0
    assert all("1 of 6 launches failed in BASE" in point.reason for point in of_adaptive(found))
    assert compare(base, timed_out(overlap(tmp_path / "more"), count=2)).regression


def test_a_launch_that_was_run_again_has_not_failed(tmp_path: Path) -> None:
    new = overlap(tmp_path / "new", seed=2)
    file = min((new / "records").glob("*adaptive*"))
    again = file.with_name(f"{file.stem}.r1.jsonl")
    again.write_text(file.read_text())
    found = compare(overlap(tmp_path / "base"), timed_out(new, file.name))
    assert found.status == 0
    assert not any("failed" in point.reason for point in found.points)


@pytest.mark.parametrize(
    ("values", "why"),
    [([0.0], "the median of latency_s is not positive"), ([-1.0], "damaged: ")],
    ids=["zero", "damaged"],
)
def test_a_launch_without_a_value_leaves_the_point_open(tmp_path: Path, values: list[float], why: str) -> None:
    new = latency(tmp_path / "new", long=False, seed=3)
    base = latency(tmp_path / "base", long=False)
    assert compare(base, new).status == 0
    spoilt = changed(new, "*.0.8.jsonl", lambda line: {**line, "samples": {"latency_s": values}})
    found = compare(base, spoilt)
    assert (found.regression, found.status) == (False, 1)
    (point,) = [point for point in found.points if point.uncompared]
    assert point.verdict is Judgement.CANNOT_TELL
    assert f"1 of 6 launches have no value in NEW ({why}" in point.reason
    assert "1 point of BASE cannot be compared" in found.sentence


def test_a_point_whose_launches_did_different_work_is_refused(tmp_path: Path) -> None:
    def more(line: Line) -> Line:
        return {**line, "point": {**line["point"], "work_units": 1100}}

    new = changed(overlap(tmp_path / "new", seed=2, comp_over_comm=(1.0,)), "*adaptive*", more, 2)
    found = compare(overlap(tmp_path / "base", comp_over_comm=(1.0,)), new)
    (point,) = of_adaptive(found)
    assert (point.verdict, point.uncompared, found.status) == (Judgement.CANNOT_TELL, True, 1)
    assert point.reason == "the launches of NEW did different work: 1100, 1000"


def spoilt(session: Path, count: int = 1) -> Path:
    """The session with the first so many record files of adaptive cut off within their first point."""
    for file in sorted((session / "records").glob("*adaptive*"))[:count]:
        lines = file.read_text().splitlines()
        file.write_text("\n".join([lines[0], lines[1][:40], *lines[2:]]) + "\n")
    return session


def test_a_record_that_cannot_be_read_whole_is_no_pass(tmp_path: Path) -> None:
    base = overlap(tmp_path / "base")
    found = compare(base, spoilt(overlap(tmp_path / "new", seed=2)))
    assert (found.regression, found.incomplete, found.status) == (False, True, 1)
    (name,) = found.unread
    assert f"1 record file of NEW cannot be read whole, and fewer of BASE: {name}." in found.sentence
    assert json.loads(found.json())["unread"] == [name]
    both = compare(spoilt(base), overlap(tmp_path / "good", seed=3))
    assert (both.unread, both.status) == ([], 0), "of BASE alone: NEW lacks nothing"


def test_a_damaged_record_of_a_launch_that_was_run_again_is_no_gap(tmp_path: Path) -> None:
    new = spoilt(overlap(tmp_path / "new", seed=2))
    whole = min((overlap(tmp_path / "again", seed=2) / "records").glob("*adaptive*"))
    (new / "records" / f"{whole.stem}.r1.jsonl").write_text(whole.read_text().replace('"again"', '"new"'))
    found = compare(overlap(tmp_path / "base"), new)
    assert (found.unread, found.status) == ([], 0)
