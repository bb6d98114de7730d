# SPDX-License-Identifier: BSD-3-Clause
"""./bench rdma-lab: the emulated machines by hand."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from harness.base import steps
from harness.base.errors import UsageError
from harness.commands import options
from harness.rdma_lab import build, lab
from harness.rdma_lab.settings import MPIS

Node = Annotated[str, typer.Argument(metavar="NODE", help="lab1 or lab2.")]


def _running() -> lab.Lab:
    found = lab.load()
    if found is None:
        raise UsageError("No emulated machines are up: ./bench rdma-lab up boots them.")
    return found


def up(
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
        build.ensure(name)
    with steps.machine_alone("rdma-lab up"):
        found = lab.up(limit, memory)
    print(f"up: {found.network_description}")
    return 0


def down(force: options.Force = False) -> int:
    """End both machines. Example: ./bench rdma-lab down"""
    return options.end_nodes("emulated machines", lab.down, force)


def status(as_json: options.Json = False) -> int:
    """What is up, and what its RDMA devices have counted. Example: ./bench rdma-lab status"""
    facts = _running().status()
    if as_json:
        print(json.dumps(facts, indent=1))
        return 0
    print(f"{facts['network']}; booted in {facts['booted_in_s']} s; files in {facts['folder']}")
    for name, node in facts["nodes"].items():
        moved = {key: value for key, value in node["counters"].items() if value}
        print(f"{name}: ssh on port {node['port']}; " + ", ".join(f"{key} {value}" for key, value in moved.items()))
    return 0


def execute(node: Node, command: options.Rest) -> int:
    """Run a command on one of them. Example: ./bench rdma-lab exec lab1 -- ibv_devinfo"""
    return _running().execute(node, options.command_of(command))
