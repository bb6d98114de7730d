# SPDX-License-Identifier: BSD-3-Clause
"""P8: latency of N threads that talk to N others. Denis, PDP 2015, figure 11."""

import reframe as rfm

from reframe_checks.workload_check import WorkloadCheck


@rfm.simple_test
class ManyToMany(WorkloadCheck):
    study = "many-to-many"
