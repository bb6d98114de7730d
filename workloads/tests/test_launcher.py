# SPDX-License-Identifier: BSD-3-Clause
"""Launches of these tests: what is given up is gone, on each MPI. Its ranks would slow every test after it."""

from __future__ import annotations

import subprocess

import psutil
import pytest

from harness.vcluster.tests.vcluster_fixtures import eventually

from .conftest import Launcher

pytestmark = pytest.mark.mpi


def ranks_of(launcher: Launcher) -> list[int]:
    """By the record that they were told to write."""
    output = f"--output={launcher.folder}"
    found = psutil.process_iter(["cmdline"])
    return [process.pid for process in found if any(word.startswith(output) for word in process.info["cmdline"] or ())]


def test_a_launch_that_is_given_up_leaves_no_ranks(launcher: Launcher) -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        launcher.of("npb").within(1).run(2, "ep", "--point=class=C")
    assert eventually(lambda: not ranks_of(launcher), 5)
