# SPDX-License-Identifier: BSD-3-Clause
"""The command line that launches a program on an opened system of this machine: for mpirun and for ./bench harm."""

from __future__ import annotations

import os

from harness.base.mpis import Mpi, Where, passed_on
from harness.base.variants import Recipe
from harness.sites.systems import Opened, System
from harness.vcluster import cluster as virtual


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
