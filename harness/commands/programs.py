# SPDX-License-Identifier: BSD-3-Clause
"""./bench mpirun and ./bench exec: a person's own program, with or without the engine."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import Annotated

import typer

from harness import systems, variants
from harness.commands import options
from harness.errors import UsageError
from harness.launching import launch_line
from harness.mpis import Mpi
from harness.setup import build
from harness.setup import mpi as mpi_setup

Command = Annotated[list[str], typer.Argument(metavar="-- CMD...", help="The program and its arguments.")]


def _ready(name: str) -> Mpi:
    mpi = mpi_setup.by_name(name)
    build.ensure(mpi)
    return mpi


def exec_(command: Command, mpi: options.OneMpi) -> int:
    """Run a command with an MPI's mpicc and mpiexec and the engine's tools on PATH.

    Example: ./bench exec --mpi openmpi -- mpicc hello.c -o hello
    """
    environment = dict(os.environ) | _ready(mpi).shell_environment()
    program = shutil.which(command[0], path=environment["PATH"])
    if program is None:
        raise UsageError(f"There is no program called '{command[0]}' on PATH.")
    os.execve(program, command, environment)


def mpirun(
    command: Command,
    mpi: options.OneMpi,
    system: options.System = "vcluster",
    variant: Annotated[str, typer.Option("--variant", metavar="V", help="See ./bench list.")] = "bare",
    ranks: Annotated[int, typer.Option("-n", min=1, max=4096, help="How many ranks.")] = 2,
    nodes: options.Nodes = 2,
) -> int:
    """Run one's own MPI program on a system, with or without the engine.

    Example: ./bench mpirun --mpi openmpi --variant adaptive -n 2 -- ./hello
    """
    variants.check(variant)
    chosen = systems.by_name(system)
    mpi_setup.by_name(mpi)
    if chosen.name not in ("vcluster", "local"):
        raise UsageError(f"./bench mpirun runs on vcluster or local; on {system} use the site's own mpiexec or srun.")
    if reason := chosen.why_not():
        raise UsageError(f"{reason} --system local runs on this machine without virtual nodes.")
    if shutil.which(command[0]) is None:
        raise UsageError(f"There is no program called '{command[0]}'.")
    return _launch(_ready(mpi), chosen, variant, (ranks, min(nodes, ranks)), command)


def _launch(mpi: Mpi, system: systems.System, variant: str, size: tuple[int, int], command: list[str]) -> int:
    ranks, nodes = size
    how = variants.recipe(variant, mpi.build_dir / "bin" / "progress-run", mpi.async_progress)
    if isinstance(how, str):
        raise UsageError(f"{mpi.title} cannot run variant {variant}: {how}.")
    if how.workload_options:
        raise UsageError(f"Variant {variant} is a setting of the workloads; choose it in your own program.")
    with system.open(nodes) as opened:
        line, environment = launch_line(mpi, system, opened, how, (ranks, nodes), command)
        status = subprocess.run(line, env=environment, check=False).returncode
    return 128 - status if status < 0 else status
