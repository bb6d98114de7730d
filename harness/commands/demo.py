# SPDX-License-Identifier: BSD-3-Clause
"""./bench demo: the main job from a fresh clone to a report."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from harness import systems
from harness.commands.run import start
from harness.mpis import WHEEL_MPIS
from harness.request import Request
from harness.setup.steps import say
from reframe_checks.study_table import STUDIES

DEMO_STUDIES = ("overlap-ratio",)
LEAST_LAUNCHES = 1


def demo(
    minutes: Annotated[float, typer.Option("--minutes", min=1, max=600, help="About how long to measure.")] = 6,
) -> int:
    """Set everything up, run the quick studies on the virtual cluster with all three MPIs, and write the report.

    The last line is the report's path. Example: ./bench demo --minutes 10
    """
    system, reason = systems.default()
    if reason:
        say(f"{reason} Falling back to processes of this machine over loopback; the records say so.")
    request = fit(system, minutes * 60)
    return start(request, "demo", sys.argv[1:])


def fit(system: systems.System, seconds: float) -> Request:
    """The quick studies with as many launches a variant as fit the time: more launches, narrower intervals."""

    def request(launches: int) -> Request:
        studies = [STUDIES[name] for name in DEMO_STUDIES]
        return Request(studies, system, list(WHEEL_MPIS), [], "quick", {"launches": str(launches)})

    launches = LEAST_LAUNCHES
    while launches < 30 and sum(job.estimate_s() for job in request(launches + 1).jobs()) <= seconds:
        launches += 1
    return request(launches)
