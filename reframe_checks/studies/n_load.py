# SPDX-License-Identifier: BSD-3-Clause
"""P9: does a ping-pong suffer from computing threads beyond the cores? Denis, PDP 2015, figure 12."""

import reframe as rfm

from reframe_checks.workload_check import WorkloadCheck


@rfm.simple_test
class NLoad(WorkloadCheck):
    study = "n-load"
