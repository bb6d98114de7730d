# SPDX-License-Identifier: BSD-3-Clause
"""R2: how often are the engine's threads switched? Ruhela et al., EuroMPI 2018."""

from __future__ import annotations

import reframe as rfm

from reframe_checks.base_check import WorkloadCheck
from reframe_checks.studies.common import DEFENSIBLE, MIB, SIZE, WORK, paper, scale
from reframe_checks.study import Parameter, Study

STUDY = Study(
    name="context-switches",
    order=302,
    title="Context switches a second of the engine's threads, with communication pending and without",
    group="ruhela",
    source="Ruhela et al., EuroMPI 2018 (study R2)",
    workload=("microbench", "context-switches"),
    parameters={
        "pending": Parameter("whether messages are pending while the program computes", bool),
        "size_bytes": SIZE,
        "work": WORK,
        "comp_s": Parameter("computation time, seconds", float),
    },
    scales={
        "test": scale(1, {"pending": (True,), "comp_s": (0.05,)}, variants=("thread", "adaptive"), samples=2),
        "quick": scale(
            DEFENSIBLE,
            {"pending": (True, False), "comp_s": (0.1,)},
            variants=("bare", "thread", "adaptive"),
            samples=3,
            seconds=0.6,
        ),
        "paper": paper(
            6,
            {"pending": (True, False), "size_bytes": (MIB, 4 * MIB, 32 * MIB), "comp_s": (0.1, 1.0)},
            variants=("bare", "mpi-async", "thread", "timer", "idle", "adaptive"),
            samples=20,
            seconds=60,
        ),
    },
)


@rfm.simple_test
class ContextSwitches(WorkloadCheck):
    study = STUDY
