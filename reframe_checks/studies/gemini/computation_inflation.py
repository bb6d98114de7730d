# SPDX-License-Identifier: BSD-3-Clause
"""G3: is the run time flat as long as the computation is shorter than the communication? Strohbeen, Sandia 2011."""

from __future__ import annotations

import reframe as rfm

from reframe_checks.base_check import WorkloadCheck
from reframe_checks.studies.common import KIB, MIB
from reframe_checks.studies.gemini.common import FIRST, PARAMETERS, SOURCE, WORKLOAD, all_variants, few
from reframe_checks.study import Study

STUDY = Study(
    name="computation-inflation",
    order=502,
    title="Run time against an inflated computation between send and receive",
    group="gemini",
    source=f"{SOURCE}, slides 'miniGhost and Computation Inflation' (study G3)",
    workload=WORKLOAD,
    calibrate_points=True,
    parameters=PARAMETERS,
    scales={
        "test": few({"posting": FIRST, "size_bytes": (MIB,), "comp_over_comm": (0.5, 1.0)}, launches=1),
        "quick": few(
            {"posting": FIRST, "size_bytes": (64 * KIB, MIB), "comp_over_comm": (0.25, 0.5, 1.0, 2.0)},
            {"posting": ("receives-last",), "size_bytes": (MIB,), "comp_over_comm": (0.5, 1.0)},
            {"posting": FIRST, "size_bytes": (4 * MIB,), "comp_over_comm": (1.0,)},
        ),
        "paper": all_variants(
            {
                "posting": ("receives-first", "receives-last"),
                "size_bytes": (KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB, 32 * MIB),
                "comp_over_comm": (0.125, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0),
            },
            {
                "posting": FIRST,
                "edge": (32, 128),  # 64 is the default, and the one of which the amounts of work are chosen
                "size_bytes": (64 * KIB, 4 * MIB),
                "comp_over_comm": (0.25, 0.5, 1.0, 2.0),
            },
            {"posting": FIRST, "test_every": (100,), "size_bytes": (4 * MIB,), "comp_over_comm": (0.5, 1.0, 2.0)},
        ),
    },
)


@rfm.simple_test
class ComputationInflation(WorkloadCheck):
    study = STUDY
