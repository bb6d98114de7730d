# SPDX-License-Identifier: BSD-3-Clause
"""How a person names a program of their own, for every command that runs one again and again and reads its output."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from harness.base import mpis
from harness.base.errors import UsageError
from harness.base.mpis import MPIS, Mpi
from harness.commands import options
from harness.job.program import Program, another_mpi
from harness.setup import build
from harness.setup.build import ensure_mpis
from harness.sites.systems import System

Command = Annotated[list[str], typer.Argument(metavar="-- CMD...", help="The program and its arguments.")]
Ranks = Annotated[int | None, typer.Option("-n", min=1, max=4096, help="How many ranks; default: 2.")]
Launcher = Annotated[
    str, typer.Option("--launcher", metavar="WORDS", help="In place of -n: one's own, as in 'srun -n 64'.")
]
TimeFrom = Annotated[
    str,
    typer.Option(
        "--time-from", metavar="REGEX", help="Finds the time in its output (the last match, its first group)."
    ),
]
Check = Annotated[
    str, typer.Option("--check", metavar="REGEX", help="Finds what it prints as its result: the same every time.")
]
Timeout = Annotated[
    float, typer.Option("--timeout", min=0.1, metavar="SECONDS", help="When a launch is given up, at the latest.")
]
SystemOfProgram = Annotated[
    str,
    typer.Option(
        "--system",
        metavar="NAME",
        show_default=False,
        help="vcluster, local or a ReFrame file of a site; default: vcluster, with --launcher local.",
    ),
]
SIMULATED = "simulated"
RANKS = 2  # where nobody says how many
ITS_OWN = ("ranks", "launcher", "time_from", "check", "timeout")


def system_name(name: str, launcher: str) -> str:
    """The system that is meant where none is named: a launcher of one's own does not know the virtual nodes."""
    return name or ("local" if launcher else "vcluster")


def none_without(command: list[str], context: typer.Context) -> None:
    """UsageError where a call says something of a program of one's own and names none."""
    for parameter, word in options.given(context):
        if parameter in ITS_OWN and not command:
            raise UsageError(f"{word} is of a program of one's own: name it behind --.")


def one_mpi(mpis: list[str], asked: str) -> str:
    """The one that was named, or UsageError."""
    if len(mpis) != 1:
        raise UsageError(f"--mpi {asked}: a program is linked to one MPI, name that.")
    return mpis[0]


def named(
    command: list[str], mpi: str, system: System, ranks: int | None, launcher: str, time_from: str, check: str
) -> Program:
    """The program that these options name, in this folder. UsageError with what is wrong with them."""
    if ranks and launcher:
        raise UsageError(
            f"-n {ranks} --launcher '{launcher}': the launcher says how many ranks there are, leave -n out."
        )
    if command[0].startswith("-"):
        raise UsageError(f"There is no option {command[0]} here; the program stands behind all options, and behind --.")
    if system.name == SIMULATED:
        raise UsageError(f"--system {SIMULATED}: its models predict what workloads of ours take, and no other program.")
    for option, pattern in (("--time-from", time_from), ("--check", check)):
        _regular(option, pattern)
    if time_from and not re.compile(time_from).groups:
        raise UsageError(f"--time-from '{time_from}' has no group: put the number in ( ), as in 'time: (.*) s'.")
    if system.own_mpis:
        ensure_mpis(mpis.by_name(mpi))  # the launcher may be its own mpiexec
    path = MPIS[mpi].shell_environment()["PATH"] if system.own_mpis else os.environ.get("PATH", os.defpath)
    command = [found(command[0], path), *command[1:]]
    if system.own_mpis:
        of_this_mpi(command[0], MPIS[mpi], MPIS[mpi].shell_environment())
        build.ensure_abi_of(command[0])
    return Program(
        command=command,
        folder=str(Path.cwd()),
        ranks=0 if launcher else ranks or RANKS,
        launcher=_launcher(launcher, path),
        time_from=time_from,
        check=check,
    )


def of_this_mpi(program: str, mpi: Mpi, environment: Mapping[str, str]) -> None:
    """UsageError where the program is linked to another MPI, or the loader does not find its own."""
    if wrong := another_mpi(program, mpi.library, dict(os.environ) | dict(environment)):
        raise UsageError(f"{program} is no program of {mpi.title}: {wrong}.")


def _regular(option: str, pattern: str) -> None:
    try:
        re.compile(pattern)
    except re.error as error:
        raise UsageError(f"{option} '{pattern}' is no regular expression: {error}.") from error


def _launcher(text: str, path: str) -> list[str]:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"--launcher '{text}': {error}.") from error
    if text and not words:
        raise UsageError(f"--launcher '{text}' names no launcher.")
    return [found(words[0], path), *words[1:]] if words else []


def found(program: str, path: str) -> str:
    """Where a program is: UsageError if nowhere."""
    if place := shutil.which(program, path=path):
        return str(Path(place).absolute())
    raise UsageError(f"There is no program called '{program}'{'' if '/' in program else ' on PATH'}.")
