# SPDX-License-Identifier: BSD-3-Clause
"""The demo measures what its time allows, and always enough to decide what its figure claims."""

from __future__ import annotations

import inspect
import os
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from analysis.studies.pioman import EQUAL_BOTH
from harness.base.mpis import WHEEL_MPIS
from harness.commands.demo import TOLD_OF, demo, estimate_s, fit
from harness.sessions.request import Request
from harness.sites.systems import BUILTIN
from reframe_checks.jobs import ENGINE_SETS
from reframe_checks.studies.common import DEFENSIBLE

DEFAULT_MINUTES: float = inspect.signature(demo).parameters["minutes"].default


def measured(request: Request) -> int:
    return sum(len(job.points_of(launch)) for job in request.jobs() for launch in job.launches)


def decides(points: list[dict[str, Any]]) -> bool:
    """Whether the point that the claims are about is among them; limit's has an interval between wakes as well."""
    return any(EQUAL_BOTH.items() <= point.items() for point in points)


@pytest.mark.parametrize("minutes", [DEFAULT_MINUTES, 2, 15])
def test_a_demo_fits_its_time_and_decides_its_claims(minutes: float) -> None:
    request = fit(BUILTIN["vcluster"], minutes * 60)
    assert estimate_s(request) <= minutes * 60
    jobs = {job.mpi: job for job in request.jobs()}
    assert list(jobs) == list(WHEEL_MPIS)
    for job in jobs.values():
        launches = Counter(launch.variant for launch in job.launches if decides(job.points_of(launch)))
        assert min(launches["bare"], launches["adaptive"], launches["limit"]) >= DEFENSIBLE
        assert {*TOLD_OF} <= set(launches) <= {*job.scale.variants}


def test_more_time_is_never_less_measured() -> None:
    sizes = [measured(fit(BUILTIN["vcluster"], 60 * minutes)) for minutes in (DEFAULT_MINUTES, 2, 5)]
    assert sizes == sorted(sizes)


def test_the_library_for_offload_is_built_where_a_launch_may_ask_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(ENGINE_SETS)]:
        monkeypatch.delenv(name)
    request = fit(BUILTIN["vcluster"], 60 * DEFAULT_MINUTES)
    assert not request.may_offload()
    assert replace(request, variants=["bare", "offload"]).may_offload()
    assert replace(request, variants=["bare", "adaptive:safety=offload"]).may_offload()
    monkeypatch.setenv("PROGRESS_ENGINE_SAFETY", "offload")
    assert request.may_offload()
