# SPDX-License-Identifier: BSD-3-Clause
"""M1 with a partner on another node. Miwa et al., results b."""

import reframe as rfm

from reframe_checks.workload_check import WorkloadCheck


@rfm.simple_test
class InterferenceNetwork(WorkloadCheck):
    study = "interference-network"
