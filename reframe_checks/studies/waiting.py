# SPDX-License-Identifier: BSD-3-Clause
"""F3: two ways to wait in a user-level thread. Fukuoka et al., HPCC 2019, appendix."""

import reframe as rfm

from reframe_checks.workload_check import WorkloadCheck


@rfm.simple_test
class Waiting(WorkloadCheck):
    study = "waiting"
