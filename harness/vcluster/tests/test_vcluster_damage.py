# SPDX-License-Identifier: BSD-3-Clause
"""A virtual cluster of which somebody removed something: the next `up` makes another, and nothing of it stays."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from harness.base.errors import Failure
from harness.tests.waiting import eventually
from harness.vcluster import cluster, launch
from harness.vcluster.cluster import Cluster
from harness.vcluster.settings import Settings
from harness.vcluster.tests.vcluster_fixtures import namespaces, namespaces_of, owned, run

pytestmark = pytest.mark.vcluster


def processes_of(virtual: Cluster) -> list[Path]:
    """Every process of it as its folder in /proc. Not its namespaces: the kernel gives their numbers to the next."""
    spaces = namespaces_of(virtual) | namespaces(str(launch.listener_pid(virtual.directory / "switch.sock")))
    return [process for process in Path("/proc").glob("[0-9]*") if namespaces(process.name) & spaces]


def gone(processes: list[Path]) -> bool:
    return eventually(lambda: not any(map(lives, processes)))


def lives(process: Path) -> bool:
    """Where no init collects orphans, as in many a container, a dead one stays in /proc."""
    try:
        return "\nState:\tZ" not in (process / "status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


SOME_LOST = ("exec", "cluster.json")  # the others with --full
LOST = [*SOME_LOST, *(pytest.param(name, marks=pytest.mark.full) for name in ("rsh", "vc1.sock", "switch.sock", "."))]


@pytest.mark.parametrize("lost", LOST)
def test_a_cluster_that_lost_files_is_replaced(virtual: Cluster, place: Path, lost: str) -> None:
    """What cleans /tmp takes some of them, a person all."""
    before = processes_of(virtual)
    assert len(before) == 4, "three nodes and the switch"
    if lost == ".":
        shutil.rmtree(place)
    else:
        (place / lost).unlink()
    damaged = Cluster.load()
    assert damaged is None or not damaged.healthy()
    fresh = cluster.up(nodes=2, tied=True)
    assert run(fresh, "vc1", "true").returncode == 0
    assert Path(fresh.remote_shell).exists()
    assert gone(before)


def test_down_ends_a_cluster_whose_directory_is_gone(virtual: Cluster, place: Path) -> None:
    before = processes_of(virtual)
    shutil.rmtree(place)
    assert cluster.down()
    assert gone(before)
    assert not cluster.down()


def test_a_tied_cluster_goes_with_its_owner_though_its_place_is_gone(virtual: Cluster, place: Path) -> None:
    virtual.down()
    with owned() as (process, running):
        before = processes_of(running)
        shutil.rmtree(place.parent)
        process.kill()
    assert gone(before)
    place.parent.mkdir(mode=0o700)


def test_a_node_that_goes_while_it_is_asked_is_not_healthy(virtual: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Cluster, "node_pid", lambda *_: 1)  # it answered a moment ago
    virtual.down()
    assert not virtual.healthy()


def test_a_command_by_hand_on_a_damaged_cluster_says_what_heals_it(tmp_path: Path) -> None:
    settings = Settings.make(2, "1gbit", 65000, tied=False, slurm=False)
    damaged = Cluster(tmp_path, settings)  # of which every file is gone
    with pytest.raises(Failure, match=r"lost files: \./bench vcluster up makes new nodes"):
        damaged.execute("vc1", ["true"])
    with pytest.raises(Failure, match=r"vc1 .* does not answer \(No such file or directory\): \./bench vcluster up"):
        damaged.services("vc1")
