# SPDX-License-Identifier: BSD-3-Clause
"""./bench nodes: a slow node and one with a slow link are named; virtual nodes are made so from outside."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from analysis.gate import slow_nodes
from harness.base.errors import NOT_TOLD
from harness.commands import tables
from harness.commands.nodes import SPARE, _request, _tell
from harness.tests.sessions import bench
from harness.vcluster import cluster as virtual
from harness.vcluster.tests.vcluster_fixtures import run

SLOW = ("tbf", "rate", "100mbit", "burst", "128kb", "latency", "400ms")


@pytest.mark.parametrize(("number", "rounds"), [(2, 1), (3, 3), (4, 3), (5, 5)])
def test_every_pair_is_planned_in_enough_launches_to_name_one(number: int, rounds: int) -> None:
    request = _request("local", number, "mpich", None, 1)
    (job,) = request.jobs()
    points = job.points_of(job.launches[0])
    assert {point["round"] for point in points} == set(range(rounds)) and len(points) == 2 * rounds
    places = {place: dict.fromkeys(range(99), 1.0) for place in range(number)}
    links = dict.fromkeys(range(number * (number - 1) // 2), dict.fromkeys(range(99), 1.0))
    measured: Any = {"register": places, "memory": places, "8 bytes": links, "1 MB": links}
    assert len(job.launches) == SPARE + slow_nodes.rounds_wanted(slow_nodes.tests(measured))
    assert len(job.launches) >= 12 and {launch.variant for launch in job.launches} == {"bare"}


def test_a_table_may_go_to_a_pipe(tmp_path: Path) -> None:
    """Whose reader would take the end of a trial for the end of the table."""
    os.mkfifo(tmp_path / "pipe")
    tables.check(tmp_path / "pipe")
    tables.check(tmp_path / "new")
    tables.check(None)
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


@pytest.mark.parametrize(("launches", "status"), [(2, NOT_TOLD), (16, 0)])
def test_too_few_launches_to_name_anybody_are_no_success(
    launches: int, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = dict.fromkeys(range(launches), 0.01)
    found = slow_nodes.Nodes(["a", "b"], {"computation": {"a": turns, "b": turns}}, [], [])
    monkeypatch.setattr(slow_nodes, "read", lambda _: found)
    text, told = _tell([Path("session")], json=False)
    assert (told, "too few launches, 2 of 11 wanted" in text) == (status, launches == 2)


def odd(folder: Path, number: int) -> tuple[int, list[dict[str, Any]]]:
    """The status of ./bench nodes, and what it names."""
    file = folder / "nodes.json"
    done = bench("nodes", "--nodes", str(number), "--json", "--out", str(file), timeout=500)
    found: dict[str, Any] = json.loads(file.read_text())
    assert not found["failed"] and len(found["nodes"]) == number, done.stderr
    return done.returncode, found["odd"]


@pytest.mark.full
@pytest.mark.alone  # what else runs slows nodes down, too
@pytest.mark.mpi
@pytest.mark.vcluster
@pytest.mark.timeout(600)
@pytest.mark.usefixtures("results", "state")
def test_a_node_with_a_slow_link_is_named(tmp_path: Path) -> None:
    """What it sends passes a tenth of the others' rate. Nodes that share a CPU may be named for that, but by less."""
    assert bench("vcluster", "up", "--nodes", "4").returncode == 0
    nodes = virtual.load()
    assert nodes
    delayed = run(nodes, "vc3", "tc", "qdisc", "replace", "dev", "eth0", "root", *SLOW)
    assert delayed.returncode == 0, delayed.stderr
    status, found = odd(tmp_path, 4)
    assert status == NOT_TOLD
    slow = [one for one in found if one["what"] == "transfer of 1048576 bytes"]
    assert max(slow, key=lambda one: float(one["ratio"]))["where"] == "vc3", found


@pytest.mark.full
@pytest.mark.alone  # what else runs slows nodes down, too
@pytest.mark.mpi
@pytest.mark.vcluster
@pytest.mark.timeout(600)
@pytest.mark.usefixtures("results", "state")
def test_a_node_whose_cpu_is_shared_is_named(tmp_path: Path) -> None:
    assert bench("vcluster", "up", "--nodes", "2").returncode == 0
    nodes = virtual.load()
    assert nodes
    with subprocess.Popen(nodes.command("vc2", ["sh", "-c", "while :; do :; done"])) as busy:
        try:
            status, found = odd(tmp_path, 2)
        finally:
            busy.kill()
    assert status == NOT_TOLD
    assert {one["where"] for one in found} == {"vc2"}, found
    assert all(one["what"].startswith("computation") for one in found)
