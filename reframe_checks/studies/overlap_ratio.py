# SPDX-License-Identifier: BSD-3-Clause
"""P1: does a message move while its owners compute? Denis, PDP 2015, figures 7 and 8."""

import reframe as rfm

from reframe_checks.workload_check import WorkloadCheck


@rfm.simple_test
class OverlapRatio(WorkloadCheck):
    study = "overlap-ratio"
