# SPDX-License-Identifier: BSD-3-Clause
"""One life of a virtual cluster, as whoever runs it: up, commands, an exchange over each MPI given, down.

python vcluster_trial.py [MPI=PROGRAM...]      prints what it saw as JSON; standard library only
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from harness.base.mpis import MPIS, Where
from harness.vcluster import cluster
from harness.vcluster.cluster import Cluster

LINE = re.compile(r"rank (\d+) of (\d+) on (\w+) received (\d+)")


def output(virtual: Cluster, node: str, *argv: str) -> str:
    """What a command on a node prints on stdout."""
    done = subprocess.run(virtual.command(node, argv), capture_output=True, text=True, check=False, timeout=120)
    return done.stdout.strip()


def received(virtual: Cluster) -> list[int]:
    """Bytes that have come over each compute node's interface."""
    nodes = virtual.status()["nodes"]
    return [nodes[host]["rx_bytes"] for host in virtual.hosts]


def exchange(virtual: Cluster, name: str, program: str) -> dict[str, Any]:
    """Launch the program on one rank a node; the status, the ranks' lines, and the bytes over the interfaces."""
    mpi = MPIS[name]
    where = Where(hosts=tuple(virtual.hosts), remote_shell=virtual.remote_shell)
    before = received(virtual)
    done = subprocess.run(
        virtual.command(virtual.login, [*mpi.launch_command(len(virtual.hosts), 1, where), program]),
        env={**os.environ, **mpi.environment("tcp")}, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    return {
        "status": done.returncode,
        "lines": sorted(LINE.findall(done.stdout)),
        "bytes": [after - first for first, after in zip(before, received(virtual), strict=True)],
        "errors": done.stderr[-2000:],
    }


def main() -> None:
    """The trial."""
    virtual = cluster.up(nodes=2, tied=True)
    facts = {
        "status": virtual.status(),
        "hostnames": {node: output(virtual, node, "hostname") for node in ("vc0", *virtual.hosts)},
        "uid": output(virtual, "vc1", "id", "-u"),
        "exit": virtual.execute("vc1", ["sh", "-c", "exit 7"]),
        "shell": output(virtual, "vc0", virtual.remote_shell, "-x", "vc2", "hostname; echo $TMPDIR"),
        "exchanges": dict((name, exchange(virtual, name, program)) for name, program in map(split, sys.argv[1:])),
        "reaped": virtual.reap("vc0"),
    }
    virtual.down()
    print(json.dumps(facts))


def split(argument: str) -> tuple[str, str]:
    """NAME=PROGRAM"""
    name, _, program = argument.partition("=")
    return name, program


if __name__ == "__main__":
    main()
