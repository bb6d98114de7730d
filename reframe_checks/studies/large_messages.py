# SPDX-License-Identifier: BSD-3-Clause
"""G4: do messages of 80 MB overlap? Strohbeen, Sandia 2011."""

import reframe as rfm

from reframe_checks.workload_check import WorkloadCheck


@rfm.simple_test
class LargeMessages(WorkloadCheck):
    study = "large-messages"
