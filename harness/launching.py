# SPDX-License-Identifier: BSD-3-Clause
"""The command line that launches a program on an opened system of this machine: for mpirun and for ./bench harm."""

from __future__ import annotations

import os
from collections.abc import Iterable

from harness.mpis import Mpi, Where
from harness.systems import Opened, System
from harness.variants import Recipe
from reframe_checks.systems.vcluster import cluster as virtual

# What is a node's or a shell's own, and would be wrong on another.
NOT_PASSED_ON = {"HOSTNAME", "TMPDIR", "PWD", "OLDPWD", "SHLVL", "_", "OVERLAP_BENCH_STATE", "OVERLAP_BENCH_NODE"}


def passed_on(names: Iterable[str]) -> tuple[str, ...]:
    """The variables that ranks on other nodes get from the caller's environment (a shell's functions are none)."""
    return tuple(sorted(name for name in names if name.isidentifier() and name not in NOT_PASSED_ON))


def launch_line(
    mpi: Mpi, system: System, opened: Opened, how: Recipe, size: tuple[int, int], command: list[str]
) -> tuple[list[str], dict[str, str]]:
    """The whole command and its environment. `size`: ranks and nodes; `how`: the variant's recipe."""
    ranks, nodes = size
    environment = dict(os.environ) | mpi.shell_environment("tcp") | how.environment
    where = Where(bind=(os.cpu_count() or 1) >= ranks)
    per_node = ranks
    if system.name == "vcluster" and (cluster := virtual.load()):
        where = Where(tuple(cluster.hosts[:nodes]), cluster.remote_shell, environment=passed_on(environment))
        per_node = -(-ranks // nodes)
    launch = mpi.launch_command(ranks, per_node, where)
    return opened.login([*launch, *how.prefix, *command, *how.workload_options]), environment
