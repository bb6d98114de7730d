# SPDX-License-Identifier: BSD-3-Clause
"""Does the engine help the program that a user names?"""

from __future__ import annotations

from reframe_checks.catalogue import Scale, Study, checks
from reframe_checks.studies.shared import DEFENSIBLE

TIMEOUT_S = 600.0  # of a launch, where none is named

OWN_PROGRAM = Study(
    name="own-program",
    order=4000,
    of_a_paper=False,
    title="Does the engine help one's own program?",
    group="program",
    source="No paper's",
    workload=(),
    own_threads=True,
    scales={"quick": Scale(DEFENSIBLE, ({},), 1, 1, 0, 0.0, variants=("bare", "adaptive"), timeout_s=TIMEOUT_S)},
)

STUDIES = (OWN_PROGRAM,)
__getattr__ = checks(__name__, STUDIES)
