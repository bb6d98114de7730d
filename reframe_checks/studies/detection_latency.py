# SPDX-License-Identifier: BSD-3-Clause
"""M2: what does each way of waiting add to the latency? Miwa et al., results a."""

import reframe as rfm

from reframe_checks.workload_check import WorkloadCheck


@rfm.simple_test
class DetectionLatency(WorkloadCheck):
    study = "detection-latency"
