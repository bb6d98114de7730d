# SPDX-License-Identifier: BSD-3-Clause
"""G2: did the halo arrive before anybody waited for it? Strohbeen, Sandia 2011."""

from __future__ import annotations

import reframe as rfm

from reframe_checks.base_check import WorkloadCheck
from reframe_checks.studies.common import KIB, MIB
from reframe_checks.studies.gemini.common import FIRST, PARAMETERS, SOURCE, WORKLOAD, all_variants, few
from reframe_checks.study import Study

STUDY = Study(
    name="early-arrival",
    order=501,
    title="Did the halo arrive before MPI_Wait was called?",
    group="gemini",
    source=f"{SOURCE}, slide 'miniGhost Receives Data Values before MPI_Wait is Called' (study G2)",
    workload=WORKLOAD,
    calibrate_points=True,
    parameters=PARAMETERS,
    scales={
        "test": few({"posting": FIRST, "size_bytes": (MIB,), "comp_over_comm": (2.0,)}, launches=1),
        "quick": few(
            {
                "posting": ("receives-first", "sends-first"),
                "size_bytes": (16 * KIB, 256 * KIB, 4 * MIB),
                "comp_over_comm": (2.0,),
            }
        ),
        "paper": all_variants(
            {
                "posting": ("receives-first", "sends-first"),
                "size_bytes": (*(4**k for k in range(12)), 16 * MIB),
                "comp_over_comm": (1.0, 2.0, 4.0),
            }
        ),
    },
)


@rfm.simple_test
class EarlyArrival(WorkloadCheck):
    study = STUDY
