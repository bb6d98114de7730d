# SPDX-License-Identifier: BSD-3-Clause
"""G3: is the run time flat as long as the computation is shorter than the communication? Strohbeen, Sandia 2011."""

import reframe as rfm

from reframe_checks.workload_check import WorkloadCheck


@rfm.simple_test
class ComputationInflation(WorkloadCheck):
    study = "computation-inflation"
