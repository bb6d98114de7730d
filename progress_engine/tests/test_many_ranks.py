# SPDX-License-Identifier: BSD-3-Clause
"""many_ranks.py without its launches: what it reads in reports, and what it refuses."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from .many_ranks import COUNTS, PARTNERS_AT_ONCE, RINGS_AT_ONCE, beyond_the_bound, row

ROUNDS = 10


def report(rings: int, **others: int) -> dict[str, Any]:
    counts = dict.fromkeys(("tracked", "polls", "productive_polls", "wakes", "parks", "fences"), 0) | others
    doorbell = {"rings": rings, "bounded": 3, "wakes": 5}
    threads = [
        {"voluntary_switches": 40, "involuntary_switches": 2},
        {"voluntary_switches": 1, "involuntary_switches": 7},
    ]
    return counts | {"doorbell": doorbell, "threads": threads}


def test_a_row_tells_mean_and_most_of_a_rank_in_a_round() -> None:
    cells = dict(zip(COUNTS, row([report(160, fences=10), report(80, fences=30)], ROUNDS), strict=True))
    assert cells["rings"] == "12 (16)"
    assert cells["fences"] == "2 (3)"
    assert cells["switches"] == "5 (5)"
    assert cells["left out"] == "0.3 (0.3)"


def test_who_rings_more_often_than_it_may_is_named() -> None:
    within, beyond = (
        report(16 * 10 + 32 * 20, tracked=10, productive_polls=20),
        report(16 * 10 + 32 * 20 + 1, tracked=10, productive_polls=20),
    )
    assert list(beyond_the_bound([within])) == []
    assert list(beyond_the_bound([within, beyond])) == ["rank 1 rang 801 times, 800 would be the most"]


def test_the_bound_is_the_engines() -> None:
    header = (Path(__file__).parents[1] / "src/wakeup/doorbell.hpp").read_text()
    bounds = dict(re.findall(r"(\w+_at_once) = (\d+);", header))
    assert bounds == {"rings_at_once": str(RINGS_AT_ONCE), "partners_at_once": str(PARTNERS_AT_ONCE)}
