# SPDX-License-Identifier: BSD-3-Clause
"""How tests run side by side: a module in one process, and what takes the machine's turn in one and the same.

A mark would do (xdist_group), but pytest-xdist 3.8 does not see it under pytest 9.2.
"""

from __future__ import annotations

import signal

import pytest
from hypothesis import HealthCheck, settings
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

# of harness/tests
TURN = [
    "ci_examples",
    "compare_program",
    "engine_costs",
    "every_mpi",
    "faults",
    "faults_sessions",
    "gate_on_slurm",
    "gate_preempted",
    "gate_whole",
    "harm",
    "nodes",
    "programs",
    "runs",
    "third_party",
    "tune_whole",
]


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
        return scope_of(nodeid)


def scope_of(nodeid: str) -> str:
    """Tests of the same scope run one after the other."""
    module = nodeid.partition("::")[0]
    return "turn" if module in {f"harness/tests/test_{name}.py" for name in TURN} else module


def pytest_configure() -> None:
    """A script's background job ignores SIGINT, and so would all that it starts: tests stop runs by it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes the turn comes first: one after the other, these take as long as all others side by side."""
    items.sort(key=lambda item: scope_of(item.nodeid) != "turn")


@pytest.hookimpl
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling:
    return Scheduling(config, log)
