# SPDX-License-Identifier: BSD-3-Clause
"""Programs that are run once: ./bench mpirun, exec and smpi; and other people's codes, which are here: ./bench apps."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from harness.base import mpis, process, variants
from harness.base.errors import UsageError, there_are
from harness.base.mpis import MPIS, Mpi, Where, passed_on
from harness.base.paths import ROOT
from harness.base.variants import check_settings
from harness.codes.code import Code
from harness.codes.find import find, lacks
from harness.codes.known import CODES
from harness.commands import options
from harness.commands.program_options import Command, found, of_this_mpi
from harness.job.program_launch import REPORT_FILE
from harness.setup import build, environment
from harness.setup.build import ensure_mpis
from harness.sites import systems
from harness.vcluster import cluster as virtual


def _ready(name: str, command: Sequence[str]) -> Mpi:
    """The MPI with the engine's tools, and those of the workloads that the command names."""
    mpi = mpis.by_name(name)
    workloads = {file.stem for file in (ROOT / "workloads").glob("*/*.cpp") if file.stem == file.parent.name}
    named = workloads.intersection(re.findall(r"[\w-]+", " ".join(command)))
    build.ensure(mpi, "progress_engine/all", *sorted(named))
    return mpi


def exec_(command: Command, mpi: options.OneMpi) -> int:
    """Run a command with an MPI's mpicc and mpiexec and the engine's tools on PATH.

    Example: ./bench exec --mpi openmpi -- mpicc hello.c -o hello
    """
    environment = dict(os.environ) | _ready(mpi, command).shell_environment()
    os.execve(found(command[0], environment["PATH"]), command, environment)


def mpirun(
    command: Command,
    mpi: options.OneMpi,
    system: options.System = "vcluster",
    variant: options.OneVariant = "bare",
    report: Annotated[
        bool, typer.Option("--report", help="With the engine's report at the end, one sentence of all ranks.")
    ] = False,
    ranks: Annotated[int, typer.Option("-n", min=1, max=4096, help="How many ranks.")] = 2,
    nodes: options.Nodes = 2,
) -> int:
    """Run one's own MPI program on a system, with or without the engine.

    The ranks get the environment of the call, and may load the MPI by its library's name (mpi4py).

    Example: ./bench mpirun --mpi openmpi --variant adaptive:burst=5 --report -n 2 -- ./hello
    """
    variant = variants.check(variant)
    if report:
        variants.require_engine(variant)
    chosen = systems.by_name(system)
    named = mpis.by_name(mpi)
    if chosen.name not in ("vcluster", "local"):
        raise UsageError(f"./bench mpirun runs on vcluster or local; on {system} use the site's own mpiexec or srun.")
    if reason := chosen.why_not():
        raise UsageError(f"{reason} --system local runs on this machine without virtual nodes.")
    path = named.shell_environment()["PATH"]
    if "/" in command[0]:  # a name may be one of the engine's tools, which are perhaps not built yet
        found(command[0], path)
    _ready(mpi, command)
    command = [found(command[0], path), *command[1:]]
    of_this_mpi(command[0], named, named.shell_environment())
    build.ensure_abi_of(command[0])
    with _reported(named) if report else contextlib.nullcontext():
        return _launch(named, chosen, variant, (ranks, min(nodes, ranks)), command)


@contextlib.contextmanager
def _reported(mpi: Mpi) -> Iterator[None]:
    """Have the ranks, on whichever node, write their reports into files, and say at the end what all of them say."""
    with tempfile.TemporaryDirectory(prefix="overlap-bench-") as folder:
        os.environ[REPORT_FILE] = f"{folder.replace('%', '%%')}/%h.%p"
        try:
            yield
        finally:
            del os.environ[REPORT_FILE]
        files = sorted(str(path) for path in Path(folder).iterdir())
        if files:
            told = process.answer([str(mpi.build_dir / "bin" / "progress-info"), "--job", *files], 60.0)
            print(told.out, end="", file=sys.stderr)


def _launch(mpi: Mpi, system: systems.System, variant: str, size: tuple[int, int], command: list[str]) -> int:
    ranks, nodes = size
    how = variants.recipe(variant, mpi.build_dir / "bin" / "progress-run", mpi.async_progress)
    if isinstance(how, str):
        raise UsageError(f"{mpi.title} cannot run variant {variant}: {how}.")
    if how.workload_options:
        raise UsageError(f"Variant {variant} is a setting of the workloads; choose it in your own program.")
    check_settings([variant], mpi.build_dir / "bin")
    with _turn(system), system.open(nodes) as opened:
        line, environment = _line(mpi, system, opened, how, (ranks, nodes), command)
        status = process.attended(line, environment)
    return 128 - status if status < 0 else status


def _line(
    mpi: Mpi,
    system: systems.System,
    opened: systems.Opened,
    how: variants.Recipe,
    size: tuple[int, int],
    command: list[str],
) -> tuple[list[str], dict[str, str]]:
    """The whole command and its environment. `size`: ranks and nodes; `how`: the variant's recipe."""
    ranks, nodes = size
    environment = dict(os.environ) | mpi.shell_environment("tcp") | how.environment
    where = Where(bind=(os.cpu_count() or 1) >= ranks)
    per_node = ranks
    if system.name == "vcluster" and (cluster := virtual.load()):
        where = Where(tuple(cluster.hosts[:nodes]), cluster.remote_shell, environment=passed_on(environment))
        per_node = -(-ranks // nodes)
    return opened.login(how.line(mpi.launch_command(ranks, per_node, where), command)), environment


@contextlib.contextmanager
def _turn(system: systems.System) -> Iterator[None]:
    """Beside others on nodes that stay up; alone where the nodes come and go with this command."""
    with process.machine_shared("mpirun"):
        if system.stays():
            yield
            return
    with process.machine_alone("mpirun"):
        yield


Workload = Annotated[
    list[str], typer.Argument(metavar="-- WORKLOAD...", help="minighost or microbench, and its arguments.")
]


def smpi(
    command: Workload, ranks: Annotated[int, typer.Option("-n", min=1, max=4096, help="How many ranks.")] = 2
) -> int:
    """Run a real workload on SimGrid's MPI, where all messages move at once: the best that progress could reach.

    Its record is on standard output, and says that it is simulated. The platform is that of OVERLAP_BENCH_MODEL. What
    is computed takes no time there, so that it must be slept.

    Example: ./bench smpi -n 8 -- minighost exchange --point size_bytes=1048576,work_units=51000,compute=sleep
    """
    from harness.simulated import model_folder  # noqa: PLC0415 - the other commands do not need it
    from harness.simulated import smpi as simgrid  # noqa: PLC0415 - the same

    with simgrid.launch_line(model_folder.folder(), ranks, command) as line:
        build.build_smpi(command[:1])
        return process.attended(line)


INSTALL = "install"
Folders = Mapping[str, str]  # code -> where a site has it


def apps(
    words: Annotated[
        list[str], typer.Argument(metavar="[install [CODE...]]", help="Install what the distribution has, or these.")
    ] = [],  # noqa: B006 - Typer copies it
    system: options.System = "vcluster",
) -> int:
    """List other people's codes: where each is found, what it lacks, and how to get it; or install those of the
    distribution.

    Example: ./bench apps install lammps hpcc
    """
    if words and words[0] != INSTALL:
        raise UsageError(f"./bench apps {words[0]}: leave it out to list, or say {INSTALL}.")
    folders = systems.by_name(system).apps or {"": {}}
    if words:
        _install(_chosen(words[1:], folders))
    print("\n".join(_line_of(code, folders) for code in CODES))
    print("A code that is elsewhere: load its module, or name its folder in the site's file (apps).")
    return 0


def _chosen(names: list[str], folders: Mapping[str, Folders]) -> list[Code]:
    """The codes of these names, else all that can be installed, of which something lacks. UsageError for one that
    cannot."""
    known = {code.name: code for code in CODES}
    for name in names:
        if name not in known:
            raise UsageError(f"There is no code '{name}'. {there_are(name, known)}")
        if not known[name].debian and not known[name].wheel:
            raise UsageError(f"{known[name].title} is not in the distribution: {known[name].how_to_get()}.")
    chosen = [known[name] for name in names] or [code for code in known.values() if code.debian or code.wheel]
    return [code for code in chosen if any(lacks(code, of_mpi) for of_mpi in folders.values())]


def _install(codes: list[Code]) -> None:
    for code in codes:
        if code.wheel:
            ensure_mpis(MPIS[code.wheel])
    environment.install_packages([package for code in codes for package in code.debian])


def _line_of(code: Code, folders: Mapping[str, Folders]) -> str:
    cases = ", ".join(case.name for case in code.cases)
    run = f"run as {cases}" if cases else "no study runs it"
    there: dict[str, list[str]] = {}  # what is said of it -> of which MPIs
    for mpi, of_mpi in folders.items():
        there.setdefault(_where(code, of_mpi), []).append(mpi)
    said = "; ".join(there) if len(there) == 1 else "; ".join(f"{', '.join(mpis)}: {x}" for x, mpis in there.items())
    return f"{code.name} ({code.title}): {'; '.join(filter(None, [said, run, code.remark()]))}"


def _where(code: Code, folders: Folders) -> str:
    found = find(code, (), folders)
    if found is None:
        return f"not found; {code.how_to_get()}"
    lacking = lacks(code, folders)
    return f"{found.path}, {found.where}" + (f", lacks {', '.join(lacking)}: {code.how_to_get()}" if lacking else "")
