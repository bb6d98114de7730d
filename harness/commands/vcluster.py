# SPDX-License-Identifier: BSD-3-Clause
"""./bench vcluster: the virtual cluster by hand."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from harness import turns
from harness.commands import options
from harness.errors import Failure, UsageError
from harness.systems import virtual_slurm_supported, virtual_supported
from reframe_checks.systems.vcluster import cluster as virtual

Node = Annotated[str, typer.Argument(metavar="NODE", help="vc0 is the login node, vc1 and up compute.")]


def _running() -> virtual.Cluster:
    cluster = virtual.load()
    if cluster is None:
        raise UsageError("No virtual cluster is up: ./bench vcluster up makes one.")
    return cluster


def up(
    nodes: options.Nodes = 2,
    rate: Annotated[str, typer.Option("--rate", help="As tc has it, 1gbit say, or none.")] = "1gbit",
    mtu: Annotated[int, typer.Option("--mtu", min=576, max=65535, help="Bytes.")] = 65000,
    slurm: Annotated[bool, typer.Option("--slurm", help="With a real Slurm on it.")] = False,
) -> int:
    """Bring up virtual nodes. Example: ./bench vcluster up --nodes 4 --rate 10gbit"""
    if reason := virtual_slurm_supported() if slurm else virtual_supported():
        raise UsageError(reason)
    with turns.alone("vcluster up"):  # it may replace nodes that somebody uses
        cluster = virtual.up(nodes=nodes, rate=None if rate == "none" else rate, mtu=mtu, slurm=slurm)
    print(f"up: {cluster.login} and {', '.join(cluster.hosts)}: {cluster.network_description}")
    return 0


def down(
    force: Annotated[bool, typer.Option("--force", help="Also from under a ./bench that uses them.")] = False,
) -> int:
    """Take the virtual nodes down, with everything on them. Example: ./bench vcluster down"""
    if not force and (holder := turns.holder()):
        raise Failure(
            f"Another ./bench may be using the virtual nodes ({holder}): wait for it or end it, or take them from "
            f"under it with --force."
        )
    print("down" if virtual.down() else "there was none")
    return 0


def status(as_json: options.Json = False) -> int:
    """What is up, where, with which addresses, CPUs and traffic. Example: ./bench vcluster status"""
    cluster = _running()
    facts = cluster.status()
    if as_json:
        print(json.dumps(facts, indent=1))
        return 0
    print(cluster.network_description)
    for name, node in facts["nodes"].items():
        print(f"{name}: " + ", ".join(f"{key} {value}" for key, value in node.items()))
    return 0


def execute(
    node: Node, command: Annotated[list[str], typer.Argument(metavar="-- CMD...", help="What to run there.")]
) -> int:
    """Run a command on a node. Example: ./bench vcluster exec vc1 -- ip address"""
    return _running().execute(node, command[1:] if command[0] == "--" else command)


def link(node: Node, state: Annotated[str, typer.Argument(metavar="up|down")]) -> int:
    """Pull a node's cable or put it back. Example: ./bench vcluster link vc2 down"""
    if state == "up":
        _running().link(node, "up")
    elif state == "down":
        _running().link(node, "down")
    else:
        raise UsageError(f"A link is set up or down, not '{state}'.")
    return 0


def rate(limit: Annotated[str, typer.Argument(metavar="RATE", help="As tc has it, 10gbit say, or none.")]) -> int:
    """Change the nodes' line rate. Example: ./bench vcluster rate 10gbit"""
    cluster = _running()
    cluster.set_rate(None if limit == "none" else limit)
    print(cluster.network_description)
    return 0
