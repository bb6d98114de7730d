# SPDX-License-Identifier: BSD-3-Clause
"""ult as the harness calls it, bare (test-and-yield) and under the engine that suspends user-level threads."""

from __future__ import annotations

from typing import Any

import pytest

from .conftest import Launcher, assert_valid

pytestmark = pytest.mark.mpi

SHORT = ("--time-box-s=5", "--min-samples=2", "--max-samples=2", "--warmup=1")
SMALL = {"ults": 30, "size_bytes": 20000, "cores": 2}
POINTS: dict[str, list[dict[str, Any]]] = {
    "concurrent-latency": [
        {"threads": 4, "threading": threading, "round_trips": 10, "cores": 2} for threading in ("kernel", "ult")
    ],
    "overlap": [{"mat_size": 20, "threading": threading, **SMALL} for threading in ("kernel", "ult", "phases")],
    "waiting": [{"mat_size": 20, "parts": 2, "waiting": waiting, **SMALL} for waiting in ("remove", "reinsert")],
}
WAITS = {"bare": "test-and-yield", "offload": "suspending"}


def arguments(points: list[dict[str, Any]]) -> list[str]:
    texts = [",".join(f"{key}={value}" for key, value in point.items()) for point in points]
    return [word for text in texts for word in ("--point", text)]


@pytest.mark.parametrize("variant", WAITS)
@pytest.mark.parametrize("benchmark", ["concurrent-latency", "overlap"])
def test_record_obeys_the_schema_and_says_how_the_threads_waited(mpich: Launcher, benchmark: str, variant: str) -> None:
    result = mpich.of("ult", variant).run(2, benchmark, *arguments(POINTS[benchmark]), *SHORT)
    assert (result.status, result.errors) == (0, "")
    assert_valid(result)
    assert [(line["point"], line["rank"]) for line in result.points] == [
        (p, r) for p in POINTS[benchmark] for r in (0, 1)
    ]
    for line in result.points:
        waits = WAITS[variant] if line["point"]["threading"] == "ult" else "blocking"
        assert line["role"] == f"{('sender', 'receiver')[line['rank']]}, {waits}"


def test_waiting_sets_the_engines_method(mpich_first: Launcher) -> None:
    result = mpich_first.of("ult", "offload").run(2, "waiting", *arguments(POINTS["waiting"]), *SHORT)
    assert (result.status, result.errors) == (0, "")
    assert_valid(result)
    for line in result.points:
        assert all(1 <= value <= 2 for value in line["samples"]["imbalance"])
    for rank in result.end["ranks"]:
        assert rank["engine"]["offload"]["suspensions"] > 0


def suspensions(launcher: Launcher, round_trips: int) -> None:
    point = {"threads": 100, "threading": "ult", "round_trips": round_trips, "cores": 2}
    limits = ("--warmup=0", "--min-samples=1", "--max-samples=1")
    result = launcher.of("ult", "offload").run(2, "concurrent-latency", *arguments([point]), *limits)
    assert (result.status, result.errors) == (0, "")
    for rank in result.end["ranks"]:
        assert rank["engine"]["offload"]["suspensions"] >= 100 * round_trips // 2


def test_no_suspended_thread_is_lost(mpich: Launcher) -> None:
    suspensions(mpich, 500)


@pytest.mark.full
def test_no_suspended_thread_is_lost_in_a_million_suspensions(launcher: Launcher) -> None:
    suspensions(launcher, 20_000)
