# SPDX-License-Identifier: BSD-3-Clause
"""P2: is the time of a send with computation their maximum or their sum? Denis, PDP 2015, figure 9."""

import reframe as rfm

from reframe_checks.workload_check import WorkloadCheck


@rfm.simple_test
class SendTime(WorkloadCheck):
    study = "send-time"
