# SPDX-License-Identifier: BSD-3-Clause
"""Ten real sessions of one program, and two slowed ones: no alarm among the ten, both slowed ones found."""

from __future__ import annotations

import itertools

import pytest

from analysis.compare import FALSE_ALARMS, MARGIN
from analysis.compare.comparison import Judgement
from analysis.compare.judge import judge_points
from analysis.compare.pairs import Key, Measured
from analysis.tests import aa

SESSIONS = aa.read()
SAME = [points for slowdown, points in SESSIONS if slowdown == 1]
SLOWED = [points for slowdown, points in SESSIONS if slowdown != 1]


def test_the_file_is_whole() -> None:
    assert (len(SAME), len(SLOWED)) == (10, 2)
    for points in (*SAME, *SLOWED):
        assert [len(entry.launches) for entry in points.values()] == [6] * 6


def test_no_false_alarm_in_45_comparisons() -> None:
    alarms = 0
    for base, new in itertools.combinations(SAME, 2):
        points, verdict, _ = judge_points(base, new, MARGIN, FALSE_ALARMS)
        changed = [point for point in points if point.verdict in (Judgement.SLOWER, Judgement.FASTER)]
        alarms += bool(changed) or verdict in (Judgement.SLOWER, Judgement.FASTER)
    assert alarms == 0


@pytest.mark.parametrize("new", SLOWED, ids=["first", "second"])
def test_five_percent_slower_is_found_against_the_base(new: dict[Key, Measured]) -> None:
    points, verdict, _ = judge_points(SAME[0], new, MARGIN, FALSE_ALARMS)
    assert verdict is Judgement.SLOWER
    assert not any(point.verdict is Judgement.FASTER for point in points)
