# SPDX-License-Identifier: BSD-3-Clause
"""M2 with a partner on another node. Miwa et al., results a."""

from __future__ import annotations

import reframe as rfm

from reframe_checks.base_check import WorkloadCheck
from reframe_checks.features import Need
from reframe_checks.studies.miwa.common import ON_SOCKETS, ping_pong

STUDY = ping_pong(
    name="detection-latency-network",
    order=204,
    title="Latency of each way to wait for a message of a partner on another node",
    source="Miwa et al., results a (study M2)",
    detections=ON_SOCKETS,
    grids=("none", "none"),
    needs=(Need("remote"),),
)


@rfm.simple_test
class DetectionLatencyNetwork(WorkloadCheck):
    study = STUDY
