# SPDX-License-Identifier: BSD-3-Clause
"""The virtual cluster when who brought it up, or a process of it, is killed."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from harness.tests.waiting import eventually
from harness.vcluster import cluster, launch
from harness.vcluster.cluster import Cluster
from harness.vcluster.tests.vcluster_fixtures import leftovers, namespaces, namespaces_of, owned, owner

pytestmark = pytest.mark.vcluster


def test_a_tied_cluster_goes_with_its_killed_owner(virtual: Cluster, place: Path) -> None:
    virtual.down()
    with owned() as (process, running):
        spaces = namespaces_of(running)
        process.kill()
    assert eventually(lambda: leftovers(place, spaces) == [])


def test_an_untied_cluster_outlives_its_killed_owner(virtual: Cluster) -> None:
    virtual.down()
    with owner(tied=False) as process:
        assert process.stdout
        pid = int(process.stdout.readline())
        process.kill()
    running = Cluster.load()
    assert running
    assert running.node_pid("vc1") == pid


@pytest.mark.parametrize("delay_s", [0.06, 0.09, 0.12, 0.15, 0.18, 0.25])
def test_up_killed_at_any_moment_leaves_nothing_or_a_cluster(virtual: Cluster, place: Path, delay_s: float) -> None:
    virtual.down()
    with owner(tied=True) as process:
        time.sleep(delay_s)
        process.kill()
    assert cluster.up(nodes=1, tied=True).healthy()
    cluster.down()
    assert eventually(lambda: leftovers(place, set()) == []), "who is killed dies a moment later"


def test_killing_every_process_of_it_leaves_only_files_which_up_replaces(virtual: Cluster, place: Path) -> None:
    spaces = namespaces_of(virtual)
    for process in Path("/proc").glob("[0-9]*"):
        if namespaces(process.name) & spaces:
            os.kill(int(process.name), signal.SIGKILL)
    launch.kill_and_wait(launch.listener_pid(place / "switch.sock") or 2**30)
    assert Cluster.load() is None
    assert cluster.up(tied=True).healthy()
