# SPDX-License-Identifier: BSD-3-Clause
"""The task queues under load: what is recorded, what is refused."""

from __future__ import annotations

import statistics

import pytest

from .conftest import Launcher, assert_valid

pytestmark = pytest.mark.mpi

QUICK = ("--time-box-s=0.1", "--min-samples=2", "--max-samples=3", "--warmup=1")


def test_every_queue_does_every_ltask(mpich: Launcher) -> None:
    """The workload counts the polls of each ltask; more threads than cores, so that holders of a lock lose theirs."""
    points = [
        f"--point=queue={queue},submitters={submitters},locality={locality}"
        for queue in ("submission", "lock", "lock-free")
        for submitters, locality in ((1, "true"), (4, "false"))
    ]
    result = mpich.of("tasks").run(1, "contention", *points, *QUICK)
    assert (result.status, result.errors) == (0, "")
    assert_valid(result)
    assert len(result.points) == len(points)
    for line in result.points:
        assert 0 < statistics.median(line["samples"]["submit_s"]) < statistics.median(line["samples"]["task_s"])


REFUSED = {
    "two ranks": (2, "queue=lock,submitters=1", "there are 2 ranks: start 1"),
    "no queue": (1, "submitters=1", "queue is missing"),
    "no such queue": (1, "queue=heap,submitters=1", "one of submission, lock, lock-free"),
    "nobody": (1, "queue=lock,submitters=0", "submitters = 0: an integer from 1"),
}


@pytest.mark.parametrize("mistake", REFUSED)
def test_mistakes_are_one_sentence(mpich: Launcher, mistake: str) -> None:
    ranks, point, sentence = REFUSED[mistake]
    result = mpich.of("tasks").run(ranks, "contention", f"--point={point}")
    assert result.status == 2
    assert sentence in result.errors
    assert len(result.errors.splitlines()) == 1, result.errors
