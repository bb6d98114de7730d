# SPDX-License-Identifier: BSD-3-Clause
"""M1 with a partner on another node. Miwa et al., results b."""

from __future__ import annotations

import reframe as rfm

from reframe_checks.base_check import WorkloadCheck
from reframe_checks.features import Need
from reframe_checks.studies.miwa.common import ON_SOCKETS, PLACES, ping_pong

STUDY = ping_pong(
    name="interference-network",
    order=202,
    title="Himeno's rate next to a thread that waits for messages of a partner on another node",
    source="Miwa et al., results b (study M1)",
    detections=ON_SOCKETS,
    grids=("S", "M"),
    needs=(Need("remote"), *PLACES, Need("cores>=2", {"placement": ("same-l3", "other-socket")})),
)


@rfm.simple_test
class InterferenceNetwork(WorkloadCheck):
    study = STUDY
