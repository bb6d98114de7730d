# SPDX-License-Identifier: BSD-3-Clause
"""The objective `time`: one quantity for every setting at a point, and no launch by half of its points."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from analysis.compare.pairs import Choice
from analysis.compare.pairs import Measured as Point
from analysis.tuning import measured
from analysis.tuning.asked import DEFAULT, Asked

ARM_OF = {"a": DEFAULT, "b": "s001"}
TIME, RATE = "total_s", "mflops"


def point(by: str, launch: str, **values: float) -> Point:
    """A point of one launch that is judged by one of these quantities."""
    signs = {TIME: 1, RATE: -1}
    choices = {name: Choice(signs[name], {launch: np.array([value])}) for name, value in values.items()}
    return Point(choices=choices).by(by)


def scores(monkeypatch: pytest.MonkeyPatch, points: dict[tuple[str, str], Point]) -> dict[str, Any]:
    """`points`: by variant and point."""
    made = {("study", "here", "mpich", *key): one for key, one in points.items()}
    monkeypatch.setattr(measured, "measured", lambda _: made)
    records: Any = SimpleNamespace(points=[1])
    return measured._by_quantity(records, Asked(measured.TIME, ()), ARM_OF)


def test_every_setting_is_judged_by_what_the_default_is_judged_by(monkeypatch: pytest.MonkeyPatch) -> None:
    found = scores(
        monkeypatch,
        {
            ("adaptive (s001)", "{}"): point(RATE, "b", total_s=2.0, mflops=5.0),
            ("adaptive", "{}"): point(TIME, "a", total_s=4.0, mflops=7.0),
        },
    )
    assert {launch: plain for launch, (_, plain) in found.items()} == pytest.approx({"a": 4.0, "b": 2.0})
    assert found["b"][0].value - found["a"][0].value == pytest.approx(math.log(2))


def test_points_by_different_quantities_are_each_turned_so_that_more_is_better(monkeypatch: pytest.MonkeyPatch) -> None:
    found = scores(
        monkeypatch,
        {
            ("adaptive", "1"): point(TIME, "a", total_s=4.0),
            ("adaptive", "2"): point(RATE, "a", mflops=2.0),
            ("adaptive (s001)", "1"): point(TIME, "b", total_s=4.0),
            ("adaptive (s001)", "2"): point(RATE, "b", mflops=8.0),
        },
    )
    assert found["b"][0].value - found["a"][0].value == pytest.approx(math.log(4) / 2)


def test_a_launch_that_lacks_the_quantity_at_a_point_has_no_score(monkeypatch: pytest.MonkeyPatch) -> None:
    found = scores(
        monkeypatch,
        {
            ("adaptive", "1"): point(TIME, "a", total_s=4.0),
            ("adaptive", "2"): point(TIME, "a", total_s=9.0),
            ("adaptive (s001)", "1"): point(TIME, "b", total_s=1.0),
            ("adaptive (s001)", "2"): point(RATE, "b", mflops=8.0),
        },
    )
    assert set(found) == {"a"}
