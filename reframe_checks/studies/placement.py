# SPDX-License-Identifier: BSD-3-Clause
"""M3: applications with progress on a core of its own, on a sibling, on the same one. Miwa et al., future plan."""

import reframe as rfm

from reframe_checks.workload_check import WorkloadCheck


@rfm.simple_test
class Placement(WorkloadCheck):
    study = "placement"
