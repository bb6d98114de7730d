# SPDX-License-Identifier: BSD-3-Clause
"""How tests run side by side: a module in one process, the longest first, each with a lock of the machine of its own.

A mark would do (xdist_group), but pytest-xdist 3.8 does not see it under pytest 9.2.
"""

from __future__ import annotations

import os
import signal

import pytest
from hypothesis import HealthCheck, settings
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from harness.base.paths import STATE_DIR
from harness.base.process import MACHINE_LOCK

# What begins last ends last: first come suites of other people's, and what runs whole sessions.
LONGEST = [
    "progress_engine/tests/third_party/test_mpi4py.py",
    *(f"harness/tests/test_{name}.py" for name in (
        "docs", "gate_on_slurm", "faults", "guide", "faults_sessions", "runs", "plain_reframe", "third_party",
        "compare_program", "measuring_commands", "every_mpi", "gate_whole", "programs",
        "tune_whole",
    )),
    "workloads/tests/test_applications.py",
]  # fmt: skip


# How many examples a test of random input tries; --hypothesis-profile=full is ./bench test --full. By default the same
# each time; and how long one takes is the machine's affair.
settings.register_profile(
    "some", max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
settings.register_profile("full", settings.get_profile("some"), max_examples=200, derandomize=False)
settings.load_profile("some")


class Scheduling(LoadScopeScheduling):  # type: ignore[misc]  # pytest-xdist has no types
    """In the order of collection."""

    def _split_scope(self, nodeid: str) -> str:
        return module_of(nodeid)


def module_of(nodeid: str) -> str:
    """Its tests run one after the other."""
    return nodeid.partition("::")[0]


def pytest_configure() -> None:
    """A script's background job ignores SIGINT, and so would all that it starts: tests stop runs by it.

    Sessions wait for each other, since they measure; tests compare no times while others run.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if worker := os.environ.get("PYTEST_XDIST_WORKER"):
        os.environ[MACHINE_LOCK] = str(STATE_DIR / f"machine-{worker}.lock")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest modules first."""
    place = {module: index for index, module in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(module_of(item.nodeid), len(place)))


@pytest.hookimpl
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling:
    return Scheduling(config, log)
