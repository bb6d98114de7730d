# SPDX-License-Identifier: BSD-3-Clause
"""P10: which design of a task queue stands up to contention? Denis, PDP 2015, section IV, figure 1."""

import reframe as rfm

from reframe_checks.workload_check import WorkloadCheck


@rfm.simple_test
class Tasks(WorkloadCheck):
    study = "tasks"
