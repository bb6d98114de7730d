# SPDX-License-Identifier: BSD-3-Clause
"""G4: do messages of 80 MB overlap? Strohbeen, Sandia 2011."""

from __future__ import annotations

import reframe as rfm

from reframe_checks.base_check import WorkloadCheck
from reframe_checks.studies.gemini.common import FIRST, MB_80, PARAMETERS, SOURCE, WORKLOAD, all_variants, few
from reframe_checks.study import Study

STUDY = Study(
    name="large-messages",
    order=503,
    title="80 MB messages beside a computation as long as they",
    group="gemini",
    source=f"{SOURCE}, slide 'A Similar Experiment Produced Contradictory Results' (study G4)",
    workload=WORKLOAD,
    calibrate_points=True,
    parameters=PARAMETERS,
    scales={
        "test": few(
            {"posting": FIRST, "size_bytes": (MB_80,), "comp_over_comm": (1.0,)}, launches=1, samples=1, seconds=8
        ),
        "quick": few(
            {"posting": FIRST, "size_bytes": (MB_80,), "comp_over_comm": (1.0,)},
            samples=1,
            seconds=4,
        ),
        "paper": all_variants(
            {
                "posting": ("receives-first", "receives-last"),
                "size_bytes": (MB_80,),
                "comp_over_comm": (0.25, 0.5, 0.75, 1.0, 1.5, 2.0),
            },
            samples=20,
            seconds=120,
        ),
    },
)


@rfm.simple_test
class LargeMessages(WorkloadCheck):
    study = STUDY
