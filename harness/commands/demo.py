# SPDX-License-Identifier: BSD-3-Clause
"""./bench demo: the main job from a fresh clone to a report."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from harness.base.mpis import WHEEL_MPIS
from harness.base.steps import say
from harness.commands.run import start
from harness.sessions.request import Request
from harness.sites import systems
from reframe_checks.catalogue import studies
from reframe_checks.studies.common import DEFENSIBLE

MOST_LAUNCHES = 30

EQUAL = {"pattern": "both", "comp_over_comm": "1"}
TOLD_OF = ["bare", "mpi-async", "idle", "adaptive", "limit"]  # the report's sentences speak of these
# What a demo can measure, the most first. All have as many launches of bare and adaptive as decide a claim, at the
# point that the claims are about; what goes first is what only explains them, or narrows an interval.
PLANS: tuple[dict[str, str], ...] = (
    *({"launches": str(launches)} for launches in range(MOST_LAUNCHES, DEFENSIBLE - 1, -1)),
    {},
    EQUAL | {"size_bytes": "65536,4194304,33554432"},
    EQUAL | {"size_bytes": "65536,4194304,16777216"},
    EQUAL | {"size_bytes": "65536,4194304,8388608"},
    EQUAL | {"size_bytes": "65536,4194304"},
)


def demo(
    minutes: Annotated[float, typer.Option("--minutes", min=1.5, max=600, help="About how long to measure.")] = 1.5,
) -> int:
    """Set everything up, run the quick overlap study on the virtual cluster with all three MPIs, and write the report.

    The last line is the report's path. Example: ./bench demo --minutes 10
    """
    system, reason = systems.default()
    if reason:
        say(f"{reason} Falling back to processes of this machine over loopback; the records say so.")
    return start(fit(system, minutes * 60), "demo", sys.argv[1:])


def fit(system: systems.System, seconds: float) -> Request:
    """The first of PLANS that fits the time, or the smallest."""
    requests = [request_of(plan, system) for plan in PLANS]
    return next((request for request in requests if estimate_s(request) <= seconds), requests[-1])


def request_of(plan: dict[str, str], system: systems.System) -> Request:
    """A plan of PLANS on all three MPIs; where time is short, with the variants that the report tells of."""
    variants = TOLD_OF if EQUAL.items() <= plan.items() else []
    return Request.of([studies()["overlap-ratio"]], system, list(WHEEL_MPIS), variants, "quick", plan)


def estimate_s(request: Request) -> float:
    """About how long its measuring takes."""
    return sum(job.estimate_s() for job in request.jobs())
