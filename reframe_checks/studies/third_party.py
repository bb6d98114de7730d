# SPDX-License-Identifier: BSD-3-Clause
"""Other people's codes under the engine: are their results the same, and what does it do to their times?

A study a case of harness.codes. Where its code is not found, its points are skipped and say how to get it.
"""

from __future__ import annotations

from harness.codes.code import Case
from harness.codes.known import CASES
from reframe_checks.catalogue import Scale, Study, checks
from reframe_checks.studies.shared import DEFENSIBLE

TIMEOUT_S = 300.0  # of a launch


def _study(number: int, case: Case) -> Study:
    grid = dict(case.points)
    variants = ("bare", "adaptive")
    return Study(
        name=case.name,
        order=4100 + number,
        of_a_paper=False,
        title=case.title,
        group="third-party",
        source="No paper's",
        workload=(),
        own_threads=True,
        case=case.name,
        scales={
            "test": Scale(1, (grid,), 1, 1, 0, 0.0, variants=variants, timeout_s=TIMEOUT_S),
            "quick": Scale(DEFENSIBLE, (grid,), 1, 1, 0, 0.0, variants=variants, timeout_s=TIMEOUT_S),
        },
    )


STUDIES = tuple(_study(number, case) for number, (_, case) in enumerate(CASES.values()) if not case.driver)

__getattr__ = checks(__name__, STUDIES)
