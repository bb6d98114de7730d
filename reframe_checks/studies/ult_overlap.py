# SPDX-License-Identifier: BSD-3-Clause
"""F2: blocking calls of many threads beside their computation. Fukuoka et al., HPCC 2019."""

import reframe as rfm

from reframe_checks.workload_check import WorkloadCheck


@rfm.simple_test
class UltOverlap(WorkloadCheck):
    study = "ult-overlap"
