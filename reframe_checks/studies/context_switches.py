# SPDX-License-Identifier: BSD-3-Clause
"""R2: how often are the engine's threads switched? Ruhela et al., EuroMPI 2018."""

import reframe as rfm

from reframe_checks.workload_check import WorkloadCheck


@rfm.simple_test
class ContextSwitches(WorkloadCheck):
    study = "context-switches"
