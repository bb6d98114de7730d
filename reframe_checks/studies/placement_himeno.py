# SPDX-License-Identifier: BSD-3-Clause
"""M3: the same with Himeno, which leaves nothing to overlap."""

import reframe as rfm

from reframe_checks.workload_check import WorkloadCheck


@rfm.simple_test
class PlacementHimeno(WorkloadCheck):
    study = "placement-himeno"
