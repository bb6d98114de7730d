# SPDX-License-Identifier: BSD-3-Clause
"""M1: what does a waiting thread cost a computation next to it? Miwa et al., results b."""

from __future__ import annotations

import reframe as rfm

from reframe_checks.base_check import WorkloadCheck
from reframe_checks.features import Need
from reframe_checks.studies.miwa.common import IN_MEMORY, MWAIT, PLACES, ping_pong

STUDY = ping_pong(
    name="interference",
    order=201,
    title="Himeno's rate next to a thread that waits for messages of a partner on the same node",
    source="Miwa et al., results b (study M1)",
    detections=IN_MEMORY,
    grids=("S", "M"),
    needs=(Need("cores>=2"), *PLACES, MWAIT, Need("cores>=3", {"placement": ("same-l3", "other-socket")})),
)


@rfm.simple_test
class Interference(WorkloadCheck):
    study = STUDY
