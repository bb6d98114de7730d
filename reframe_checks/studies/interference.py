# SPDX-License-Identifier: BSD-3-Clause
"""M1: what does a waiting thread cost a computation next to it? Miwa et al., results b."""

import reframe as rfm

from reframe_checks.workload_check import WorkloadCheck


@rfm.simple_test
class Interference(WorkloadCheck):
    study = "interference"
