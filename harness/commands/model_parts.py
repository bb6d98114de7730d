# SPDX-License-Identifier: BSD-3-Clause
"""Measuring the points of a model's tables on the virtual cluster: a session a part."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from harness.base.steps import say
from harness.commands.run import describe, usable
from harness.sessions import run as runs
from harness.sessions.model_points import Part
from harness.sessions.request import parse_settings
from harness.sites import systems


def measure(parts: Iterable[Part], settings: list[str], hint: str) -> tuple[list[str], int]:
    """The names of the sessions, and 1 where one lacks points; `settings`: more --set pairs."""
    system = systems.by_name("vcluster")
    usable(system)
    requests = [part.request(system, parse_settings(settings)) for part in parts]
    for request in requests:
        runs.set_up(request)  # nothing is built between two measurements
    names, status = [], 0
    with runs.measuring(system, hint):
        for request in requests:
            session = runs.new_session(request, f"{hint}-{request.nodes}", sys.argv[1:])
            say(describe(request))
            good = runs.run(request, session)
            say(f"session: {session.path}")
            names.append(session.name)
            status = status if good else 1
    return names, status
