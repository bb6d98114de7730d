# SPDX-License-Identifier: BSD-3-Clause
"""P4: does the idle threads' period slow a computation down? Denis, PDP 2015, figure 4."""

import reframe as rfm

from reframe_checks.workload_check import WorkloadCheck


@rfm.simple_test
class ComputeIdlePeriod(WorkloadCheck):
    study = "compute-idle-period"
