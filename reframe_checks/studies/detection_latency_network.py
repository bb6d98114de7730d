# SPDX-License-Identifier: BSD-3-Clause
"""M2 with a partner on another node. Miwa et al., results a."""

import reframe as rfm

from reframe_checks.workload_check import WorkloadCheck


@rfm.simple_test
class DetectionLatencyNetwork(WorkloadCheck):
    study = "detection-latency-network"
