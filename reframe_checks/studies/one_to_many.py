# SPDX-License-Identifier: BSD-3-Clause
"""P8: does the latency grow with the threads that wait? Denis, PDP 2015, figure 10."""

import reframe as rfm

from reframe_checks.workload_check import WorkloadCheck


@rfm.simple_test
class OneToMany(WorkloadCheck):
    study = "one-to-many"
