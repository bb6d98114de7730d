# SPDX-License-Identifier: BSD-3-Clause
"""R1: do nonblocking collectives progress while their ranks compute? Ruhela et al., EuroMPI 2018."""

import reframe as rfm

from reframe_checks.workload_check import WorkloadCheck


@rfm.simple_test
class CollectiveOverlap(WorkloadCheck):
    study = "collective-overlap"
