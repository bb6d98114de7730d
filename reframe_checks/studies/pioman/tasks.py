# SPDX-License-Identifier: BSD-3-Clause
"""P10: which design of a task queue stands up to contention? Denis, PDP 2015, section IV, figure 1."""

from __future__ import annotations

import reframe as rfm

from reframe_checks.base_check import WorkloadCheck
from reframe_checks.features import Need
from reframe_checks.studies.common import DEFENSIBLE, paper, scale
from reframe_checks.study import Parameter, Study

QUEUES = ("submission", "lock", "lock-free")

STUDY = Study(
    name="tasks",
    order=111,
    title="Time of an ltask while several threads submit and poll, on three designs of a queue",
    group="pioman",
    source="Denis, PDP 2015, section IV, figure 1 (study P10)",
    workload=("tasks", "contention"),
    nodes=1,
    own_threads=True,
    parameters={
        "queue": Parameter("design of the queues", str, QUEUES),
        "locality": Parameter("a queue for every place of the machine, or a single one", bool),
        "submitters": Parameter("threads that submit ltasks and wait for them", int),
        "pollers": Parameter("threads that only poll", int),
        "window": Parameter("ltasks that a submitter has under way", int),
        "polls": Parameter("polls until an ltask is done", int),
    },
    needs=(Need("cores>=2"),),
    scales={
        "test": scale(
            1, {"queue": QUEUES, "locality": (True,), "submitters": (2,)}, variants=("bare",), samples=2, seconds=0.1
        ),
        "quick": scale(
            DEFENSIBLE,
            {"queue": QUEUES, "locality": (True, False), "submitters": (1, 2, 4)},
            variants=("bare",),
            samples=10,
            seconds=0.1,
        ),
        "paper": paper(
            6,
            {
                "queue": QUEUES,
                "locality": (True, False),
                "submitters": (1, 2, 4, 8, 16, 32),
                "pollers": (0, 1, 4),
                "polls": (1, 16),
            },
            variants=("bare",),
            samples=100,
            seconds=10,
        ),
    },
)


@rfm.simple_test
class Tasks(WorkloadCheck):
    study = STUDY
