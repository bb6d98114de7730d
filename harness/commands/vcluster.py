# SPDX-License-Identifier: BSD-3-Clause
"""./bench vcluster: the virtual cluster by hand."""

from __future__ import annotations

import contextlib
import json
from typing import Annotated

import typer

from harness.base import steps
from harness.base.errors import Failure, UsageError
from harness.commands import options
from harness.sites.virtual import virtual_slurm_supported, virtual_supported
from harness.vcluster import cluster as virtual
from harness.vcluster import network
from harness.vcluster.line import Line

Node = Annotated[str, typer.Argument(metavar="NODE", help="vc0 is the login node, vc1 and up compute.")]


def _running() -> virtual.Cluster:
    cluster = virtual.load()
    if cluster is None:
        raise UsageError("No virtual cluster is up: ./bench vcluster up makes one.")
    return cluster


def _network(cluster: virtual.Cluster) -> str:
    try:
        measured = network.measured_words(cluster.measured())
    except Failure as error:
        measured = f"nothing, {error}"
    return f"{cluster.network_description}; measured: {measured}"


def up(
    nodes: options.Nodes = 2,
    rate: Annotated[str, typer.Option("--rate", help="As tc has it, 1gbit say, or none.")] = "1gbit",
    mtu: Annotated[int, typer.Option("--mtu", min=576, max=65535, help="Bytes.")] = 65000,
    slurm: Annotated[bool, typer.Option("--slurm", help="With a real Slurm on it.")] = False,
    management: Annotated[bool, typer.Option("--management", help="With a second network, without limits.")] = False,
) -> int:
    """Bring up virtual nodes. Example: ./bench vcluster up --nodes 4 --rate 10gbit"""
    limit = None if rate == "none" else Line(rate, mtu).rate  # a wrong one is said before anything else
    if reason := virtual_slurm_supported() if slurm else virtual_supported():
        raise UsageError(reason)
    with steps.machine_alone("vcluster up"):  # it may replace nodes that somebody uses
        cluster = virtual.up(nodes=nodes, rate=limit, mtu=mtu, slurm=slurm, management=management)
    print(f"up: {cluster.login} and {', '.join(cluster.hosts)}: {_network(cluster)}")
    return 0


def down(force: options.Force = False) -> int:
    """Take the virtual nodes down, with everything on them. Example: ./bench vcluster down"""
    return options.end_nodes("virtual nodes", virtual.down, force)


def status(as_json: options.Json = False) -> int:
    """What is up, where, with which addresses, CPUs and traffic. Example: ./bench vcluster status"""
    cluster = _running()
    facts = cluster.status()
    if as_json:
        with contextlib.suppress(Failure):
            facts["measured"] = cluster.measured()
        print(json.dumps(facts, indent=1))
        return 0
    print(_network(cluster))
    for name, node in facts["nodes"].items():
        print(f"{name}: " + ", ".join(f"{key} {value}" for key, value in node.items()))
    return 0


def execute(node: Node, command: options.Rest) -> int:
    """Run a command on a node. Example: ./bench vcluster exec vc1 -- ip address"""
    return _running().execute(node, options.command_of(command))


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
    print(_network(cluster))
    return 0
