# SPDX-License-Identifier: BSD-3-Clause
"""F1: latency of threads that communicate at once. Fukuoka et al., HPCC 2019."""

import reframe as rfm

from reframe_checks.workload_check import WorkloadCheck


@rfm.simple_test
class ConcurrentLatency(WorkloadCheck):
    study = "concurrent-latency"
