# SPDX-License-Identifier: BSD-3-Clause
"""The bell between nodes, by datagrams. Its parts have unit tests: bell_test.cpp, bell_key_test.cpp, datagram_test.cpp.

Nodes of a virtual cluster, whose MPI goes over TCP: `events=none` has the engine take it for a fabric without sockets.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from harness.base.mpis import MPIS
from harness.base.paths import BUILD_DIR

from .conftest import compiled

pytestmark = pytest.mark.full


def test_a_flood_of_a_million_datagrams_costs_a_bounded_number_of_wakes() -> None:
    tests = BUILD_DIR / "asan" / "bin" / "engine_unit_tests"
    if not tests.exists():
        pytest.skip("the unit tests are not built")
    done = subprocess.run(
        [tests, "--gtest_filter=Attack.AMillionDoTheSame"], env=os.environ | {"BELL_FLOOD": "1"}, timeout=300,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert "[  SKIPPED ]" not in done.stdout


def bells_on_two_nodes(folder: Path, source: str, *arguments: str, hosts: str = "") -> list[dict[str, Any]]:
    """What the report of each of two ranks says of its bell: one rank a node, management network and all."""
    from harness.vcluster import cluster as virtual  # noqa: PLC0415 - where there can be none, the others still run

    mpi = MPIS["mpich"]
    if not (mpi.build_dir / "lib" / "libprogress_engine.so").exists():
        pytest.skip("the engine is not built for MPICH")
    if reason := virtual.supported():
        pytest.skip(reason)
    program = compiled(mpi, source, folder)
    made = virtual.up(management=True)
    settings = ["events=none", "doorbell=udp", f"bell_key={folder}/key", f"bell_hosts={hosts}"]
    settings += [f"report_file={folder}/report.%r"]
    engine = [str(mpi.build_dir / "bin" / "progress-run"), "--variant", "adaptive"]
    engine += [word for setting in settings for word in ("--set", setting)]
    launch = [str(mpi.bin / "mpiexec"), "-launcher", "rsh", "-launcher-exec", made.remote_shell]
    launch += ["-hosts", ",".join(made.hosts), "-ppn", "1", "-n", "2"]
    try:
        done = subprocess.run(
            ["timeout", "-k", "2", "60",
             *made.command(made.login, [*launch, *engine, "--", str(program), *arguments])],
            env=os.environ | mpi.environment("tcp"), capture_output=True, text=True, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    finally:
        made.down()
    assert done.returncode == 0, done.stderr
    assert "wrong" not in done.stdout
    return [json.loads((folder / f"report.{rank}").read_text())["doorbell"]["bell"] for rank in range(2)]


@pytest.mark.mpi
@pytest.mark.alone
@pytest.mark.parametrize("hosts", ["", "vc[1-2]-mgmt"], ids=["over the fabric", "over the management network"])
def test_a_large_message_wakes_the_engine_on_the_other_node(tmp_path: Path, hosts: str) -> None:
    for bell in bells_on_two_nodes(tmp_path, "bell.c", hosts=hosts):
        assert bell["state"] == "rings"
        assert bell["keeps"]
        assert bell["sent"] > 0
        assert bell["taken"] > 0


# Of late is a second; the requests are started again later than that.
@pytest.mark.mpi
@pytest.mark.alone
def test_each_start_of_a_persistent_request_rings(tmp_path: Path) -> None:
    rounds = 20
    for bell in bells_on_two_nodes(tmp_path, "bell_partners.c", "persistent"):
        assert bell["state"] == "rings"
        assert bell["sent"] >= rounds


# Without it nobody keeps the port there, and who sends rings in vain.
@pytest.mark.mpi
@pytest.mark.alone
def test_who_receives_from_any_source_is_rung(tmp_path: Path) -> None:
    receiver, sender = bells_on_two_nodes(tmp_path, "bell_partners.c", "anyone")
    assert receiver["state"] == sender["state"] == "rings"
    assert receiver["keeps"]
    assert receiver["taken"] > 0


@pytest.mark.mpi
@pytest.mark.alone
def test_a_receive_of_more_than_two_gibibytes_is_a_large_one(tmp_path: Path) -> None:
    receiver, sender = bells_on_two_nodes(tmp_path, "bell_partners.c", "vast")
    assert receiver["state"] == "rings"
    assert sender["state"] == "not needed", "it sends eight bytes"
