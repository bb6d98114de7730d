# SPDX-License-Identifier: BSD-3-Clause
"""P5: does the timer's period show in a computation? Denis, PDP 2015, section IV-C."""

import reframe as rfm

from reframe_checks.workload_check import WorkloadCheck


@rfm.simple_test
class TimerPeriodEp(WorkloadCheck):
    study = "timer-period-ep"
