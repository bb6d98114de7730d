# SPDX-License-Identifier: BSD-3-Clause
"""Nodes that are made and ended by hand: ./bench vcluster, the virtual cluster; ./bench rdma-lab, emulated machines."""

from __future__ import annotations

import contextlib
import json
from typing import Annotated

import typer

from harness.base import process
from harness.base.errors import Failure, UsageError
from harness.commands import options
from harness.rdma_lab import guest_build, lab
from harness.rdma_lab.lab_settings import MPIS
from harness.sites.virtual import virtual_slurm_supported, virtual_supported
from harness.vcluster import cluster as virtual
from harness.vcluster import network
from harness.vcluster.line import Line

VirtualNode = Annotated[str, typer.Argument(metavar="NODE", help="vc0 is the login node, vc1 and up compute.")]


def _cluster() -> virtual.Cluster:
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


def vcluster_up(
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
    with process.machine_alone("vcluster up"):  # it may replace nodes that somebody uses
        cluster = virtual.up(nodes=nodes, rate=limit, mtu=mtu, slurm=slurm, management=management)
    print(f"up: {cluster.login} and {', '.join(cluster.hosts)}: {_network(cluster)}")
    return 0


def vcluster_down(force: options.Force = False) -> int:
    """Take the virtual nodes down, with everything on them. Example: ./bench vcluster down"""
    return options.end_nodes("virtual nodes", virtual.down, force)


def vcluster_status(as_json: options.Json = False) -> int:
    """What is up, where, with which addresses, CPUs and traffic. Example: ./bench vcluster status"""
    cluster = _cluster()
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


def vcluster_exec(node: VirtualNode, command: options.Rest) -> int:
    """Run a command on a node. Example: ./bench vcluster exec vc1 -- ip address"""
    return _cluster().execute(node, options.command_of(command))


def link(node: VirtualNode, state: Annotated[str, typer.Argument(metavar="up|down")]) -> int:
    """Pull a node's cable or put it back. Example: ./bench vcluster link vc2 down"""
    if state == "up":
        _cluster().link(node, "up")
    elif state == "down":
        _cluster().link(node, "down")
    else:
        raise UsageError(f"A link is set up or down, not '{state}'.")
    return 0


def rate(limit: Annotated[str, typer.Argument(metavar="RATE", help="As tc has it, 10gbit say, or none.")]) -> int:
    """Change the nodes' line rate. Example: ./bench vcluster rate 10gbit"""
    cluster = _cluster()
    cluster.set_rate(None if limit == "none" else limit)
    print(_network(cluster))
    return 0


LabNode = Annotated[str, typer.Argument(metavar="NODE", help="lab1 or lab2.")]


def _lab() -> lab.Lab:
    found = lab.load()
    if found is None:
        raise UsageError("No emulated machines are up: ./bench rdma-lab up boots them.")
    return found


def lab_up(
    rate: Annotated[
        str, typer.Option("--rate", help="Of the data network, as tc has it, 20mbit say, or none.")
    ] = "none",
    memory: Annotated[int, typer.Option("--memory", metavar="MB", help="Of each machine.")] = lab.MEMORY_MB,
    programs: Annotated[
        str, typer.Option("--build", metavar="MPI,...", help=f"Build the engine for them, too: {', '.join(MPIS)}.")
    ] = "",
) -> int:
    """Boot two emulated machines with soft-RoCE. Example: ./bench rdma-lab up --rate 20mbit"""
    names = [name.strip() for name in programs.split(",") if name.strip()]
    if unknown := [name for name in names if name not in MPIS]:
        raise UsageError(f"The emulated machines have no MPI '{unknown[0]}'. They have: {', '.join(MPIS)}.")
    limit = None if rate == "none" else rate
    lab.check(limit, memory)
    for name in names:
        guest_build.ensure(name)
    with process.machine_alone("rdma-lab up"):
        found = lab.up(limit, memory)
    print(f"up: {found.network_description}")
    return 0


def lab_down(force: options.Force = False) -> int:
    """End both machines. Example: ./bench rdma-lab down"""
    return options.end_nodes("emulated machines", lab.down, force)


def lab_status(as_json: options.Json = False) -> int:
    """What is up, and what its RDMA devices have counted. Example: ./bench rdma-lab status"""
    facts = _lab().status()
    if as_json:
        print(json.dumps(facts, indent=1))
        return 0
    print(f"{facts['network']}; booted in {facts['booted_in_s']} s; files in {facts['folder']}")
    for name, node in facts["nodes"].items():
        moved = {key: value for key, value in node["counters"].items() if value}
        print(f"{name}: ssh on port {node['port']}; " + ", ".join(f"{key} {value}" for key, value in moved.items()))
    return 0


def lab_exec(node: LabNode, command: options.Rest) -> int:
    """Run a command on one of them. Example: ./bench rdma-lab exec lab1 -- ibv_devinfo"""
    return _lab().execute(node, options.command_of(command))
