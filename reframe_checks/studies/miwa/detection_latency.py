# SPDX-License-Identifier: BSD-3-Clause
"""M2: what does each way of waiting add to the latency? Miwa et al., results a."""

from __future__ import annotations

import reframe as rfm

from reframe_checks.base_check import WorkloadCheck
from reframe_checks.features import Need
from reframe_checks.studies.miwa.common import IN_MEMORY, MWAIT, ping_pong

STUDY = ping_pong(
    name="detection-latency",
    order=203,
    title="Latency of each way to wait for a message of a partner on the same node",
    source="Miwa et al., results a (study M2)",
    detections=IN_MEMORY,
    grids=("none", "none"),
    needs=(Need("cores>=2"), MWAIT),
)


@rfm.simple_test
class DetectionLatency(WorkloadCheck):
    study = STUDY
