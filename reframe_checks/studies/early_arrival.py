# SPDX-License-Identifier: BSD-3-Clause
"""G2: did the halo arrive before anybody waited for it? Strohbeen, Sandia 2011."""

import reframe as rfm

from reframe_checks.workload_check import WorkloadCheck


@rfm.simple_test
class EarlyArrival(WorkloadCheck):
    study = "early-arrival"
