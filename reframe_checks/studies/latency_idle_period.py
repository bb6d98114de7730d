# SPDX-License-Identifier: BSD-3-Clause
"""P3: does the period of the idle threads show in the latency? Denis, PDP 2015, figures 2 and 3."""

import reframe as rfm

from reframe_checks.workload_check import WorkloadCheck


@rfm.simple_test
class LatencyIdlePeriod(WorkloadCheck):
    study = "latency-idle-period"
