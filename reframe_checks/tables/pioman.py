# SPDX-License-Identifier: BSD-3-Clause
"""Denis, "pioman: a pthread-based Multithreaded Communication Engine", PDP 2015: studies P1 to P10."""

from __future__ import annotations

from reframe_checks.study import BASELINES, PRESETS, Grid, Parameter, Scale, Study
from reframe_checks.tables.common import DEFENSIBLE, KIB, MIB, TEST_EVERY, WORK

_OVERLAP_PARAMETERS = {
    "pattern": Parameter("who computes", str, ("both", "sender", "receiver")),
    "size_bytes": Parameter("message size", int),
    "receive": Parameter("whether the receive is there before the send starts", str, ("preposted", "late")),
    "work": WORK,
    "test_every": TEST_EVERY,
    "wake_us": Parameter("variant limit alone: how long its thread sleeps after each move, microseconds", int),
}

_DECIDING = {"bare": DEFENSIBLE, "adaptive": DEFENSIBLE, "limit": DEFENSIBLE}
_ALL = (*BASELINES, *PRESETS, "limit")
_FEW_WAKES: Grid = {"wake_us": (500, 2000)}
_WAKES: Grid = {"wake_us": (250, 500, 1000, 2000, 3000, 5000)}

OVERLAP_RATIO = Study(
    name="overlap-ratio",
    title="Total time over computation time: does a message move while its owners compute?",
    group="pioman",
    source="Denis, PDP 2015, figures 7 and 8 (study P1)",
    workload=("microbench", "overlap"),
    parameters=_OVERLAP_PARAMETERS
    | {"comp_over_comm": Parameter("computation time over the bare communication time", float)},
    scales={
        "test": Scale(
            launches=2,
            grids=({"pattern": ("both",), "size_bytes": (4 * MIB,), "comp_over_comm": (1.0,)},),
            min_samples=3,
            max_samples=3,
            warmup=1,
            time_box_s=5,
            variants=("bare", "adaptive"),
            limit=_FEW_WAKES,
        ),
        "quick": Scale(
            launches=1,
            more=_DECIDING,
            mpis=("mpich", "openmpi"),  # claims of this study name Open MPI
            grids=(
                {"pattern": ("both",), "size_bytes": (64 * KIB, 4 * MIB), "comp_over_comm": (0.5, 1.0, 2.0)},
                {"pattern": ("sender", "receiver"), "size_bytes": (4 * MIB,), "comp_over_comm": (1.0,)},
                {"pattern": ("both",), "size_bytes": (32 * MIB,), "comp_over_comm": (1.0,)},
            ),
            min_samples=3,
            max_samples=20,
            warmup=1,
            time_box_s=0.45,
            variants=_ALL,
            limit=_FEW_WAKES | {"comp_over_comm": (1.0, 2.0)},
        ),
        "paper": Scale(
            launches=6,
            grids=(
                {
                    "pattern": ("both", "sender", "receiver"),
                    "size_bytes": (64 * KIB, 4 * MIB, 32 * MIB),
                    "comp_over_comm": (0.125, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0),
                },
            ),
            min_samples=10,
            max_samples=100,
            warmup=2,
            time_box_s=20,
            variants=_ALL,
            limit=_WAKES,
        ),
    },
)

_SIZES_TO_8_MIB = (*(4**k for k in range(11)), 2 * MIB, 4 * MIB, 8 * MIB)

SEND_TIME = Study(
    name="send-time",
    title="Time of a send with computation against message size: max(computation, communication) or their sum?",
    group="pioman",
    source="Denis, PDP 2015, figure 9 (study P2)",
    workload=("microbench", "overlap"),
    parameters=_OVERLAP_PARAMETERS | {"comp_s": Parameter("computation time, seconds", float)},
    scales={
        "test": Scale(
            launches=2,
            grids=({"pattern": ("both",), "size_bytes": (1, 64 * KIB), "comp_s": (0.0, 0.0005)},),
            min_samples=3,
            max_samples=10,
            warmup=1,
            time_box_s=1,
            variants=("bare", "adaptive"),
            limit=_FEW_WAKES,
        ),
        "quick": Scale(
            launches=1,
            more=_DECIDING,
            mpis=("mpich",),
            grids=(
                {
                    "pattern": ("both",),
                    "size_bytes": (1, 1 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, 1 * MIB, 8 * MIB),
                    "comp_s": (0.0, 0.0001, 0.0002, 0.0005, 0.001),
                },
            ),
            min_samples=3,
            max_samples=30,
            warmup=1,
            time_box_s=0.2,
            variants=("bare", "mpi-async", "idle", "adaptive", "limit"),
            limit=_FEW_WAKES | {"comp_s": (0.0005, 0.001)},
        ),
        "paper": Scale(
            launches=6,
            grids=(
                {
                    "pattern": ("both",),
                    "size_bytes": (*_SIZES_TO_8_MIB, 80 * MIB),
                    "comp_s": (0.0, 0.0001, 0.0002, 0.0005, 0.001),
                },
            ),
            min_samples=10,
            max_samples=1000,
            warmup=2,
            time_box_s=10,
            variants=_ALL,
            limit=_WAKES,
        ),
    },
)

STUDIES = (OVERLAP_RATIO, SEND_TIME)
