# SPDX-License-Identifier: BSD-3-Clause
"""P6: what do polling in calls and in threads add to the latency? Denis, PDP 2015, figure 5."""

import reframe as rfm

from reframe_checks.workload_check import WorkloadCheck


@rfm.simple_test
class LatencyFlavours(WorkloadCheck):
    study = "latency-flavours"
