# SPDX-License-Identifier: BSD-3-Clause
"""P4: does the idle threads' period slow a computation down? Denis, PDP 2015, figure 4."""

from __future__ import annotations

import reframe as rfm

from reframe_checks.base_check import WorkloadCheck
from reframe_checks.studies.common import DEFENSIBLE, paper, scale
from reframe_checks.studies.pioman.common import CLASS
from reframe_checks.study import Parameter, Study

STUDY = Study(
    name="compute-idle-period",
    order=104,
    title="Time of NPB EP against the period at which idle threads poll",
    group="pioman",
    source="Denis, PDP 2015, figure 4 (study P4)",
    workload=("npb", "ep"),
    parameters={
        "class": CLASS,
        "period_us": Parameter("period of the idle threads, microseconds", int, engine="idle_us"),
    },
    scales={
        "test": scale(1, {"class": ("S",), "period_us": (0, 1000)}, variants=("bare", "idle"), samples=1),
        "quick": scale(
            DEFENSIBLE, {"class": ("A",), "period_us": (0, 10, 1000)}, variants=("bare", "idle"), samples=3, seconds=1.6
        ),
        "paper": paper(
            6,
            {"class": ("B",), "period_us": (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)},
            variants=("bare", "idle"),
            samples=10,
            seconds=300,
        ),
    },
)


@rfm.simple_test
class ComputeIdlePeriod(WorkloadCheck):
    study = STUDY
