# SPDX-License-Identifier: BSD-3-Clause
"""Other clusters: ./bench site, the file by which one is known here; ./bench spack, which installs there."""

from __future__ import annotations

import json
import re
import socket
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from harness.base.errors import UsageError
from harness.commands import options
from harness.sites import site_file
from harness.sites.site_writer import FABRICS, MODULES_SYSTEMS, NODE_FEATURES, PMIS, SCHEDULERS, Answers, SiteMpi
from spack_env import make_site
from spack_env import site_environment as spack
from spack_env import smoke as spack_smoke
from spack_env.mpi_environments import ENVIRONMENTS
from spack_env.site_environment import HERE

WHICH_MPIS = "Which MPIs, separated by spaces? (NAME, or with its modules NAME=MODULE,MODULE)"
RESERVED = "How many cores a rank, beside its own, for the engine's threads?"
NODES_HAVE = f"What have its nodes besides, separated by spaces: {', '.join(NODE_FEATURES)}? (Enter: nothing)"
DEFAULT_LAUNCHERS = {"slurm": "srun", "squeue": "srun", "flux": "flux-run"}


def _ask(option: str, value: str, question: str, choices: Sequence[str] = (), default: str | None = None) -> str:
    """What was given, or asked on a terminal, or the default, or the sentence that it is missing."""
    if value:
        return value
    shown = f"{question} ({', '.join(choices)})" if choices else question
    if sys.stdin.isatty():
        proper = partial(_one_of, choices)
        return str(typer.prompt(shown, default=default, value_proc=proper, show_default=bool(default), err=True))
    if default is None:
        raise UsageError(f"{option} is missing: {shown}")
    return default


def _one_of(choices: Sequence[str], answer: str) -> str:
    """The answer; what is none of the choices is asked again."""
    if choices and answer not in choices:
        raise typer.BadParameter(f"'{answer}' is none of {', '.join(choices)}.")
    return answer


def _count(option: str, text: str, least: int = 1) -> int:
    if not text.isdecimal() or int(text) < least:
        raise UsageError(f"{option} is a number of at least {least}, not '{text}'.")
    return int(text)


def new(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The Python file to write.")],
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="What to call the cluster.")] = "",
    scheduler: Annotated[str, typer.Option("--scheduler", metavar="S", help=", ".join(SCHEDULERS))] = "",
    launcher: Annotated[
        str, typer.Option("--launcher", metavar="L", help="srun, or mpirun, mpiexec: the MPI's own.")
    ] = "",
    pmi: Annotated[
        str, typer.Option("--pmi", metavar="P", help=f"What srun speaks: {', '.join(PMIS)}; default: each MPI's own.")
    ] = "",
    partition: Annotated[
        str, typer.Option("--partition", metavar="P", help="The batch system's partition or queue.")
    ] = "",
    account: Annotated[str, typer.Option("--account", metavar="A", help="What jobs are charged to.")] = "",
    fabric: Annotated[str, typer.Option("--fabric", metavar="F", help=", ".join(FABRICS))] = "",
    mpi: Annotated[
        list[str],
        typer.Option("--mpi", metavar="NAME[=MODULE,...[=WORD]]", help="An MPI, its modules, a word of its version."),
    ] = [],  # noqa: B006 - Typer copies it
    spack_site: Annotated[
        str, typer.Option("--spack-site", metavar="NAME", help="All comes from Spack: a site of ./bench spack site.")
    ] = "",
    modules_system: Annotated[str, typer.Option("--modules-system", metavar="M", help=", ".join(MODULES_SYSTEMS))] = "",
    compiler: Annotated[str, typer.Option("--cc", metavar="CC", help="Without Spack: the MPIs' C compiler.")] = "mpicc",
    bin_dir: Annotated[
        str, typer.Option("--bin-dir", metavar="DIR", help="Without Spack: the programs, with {mpi} for its name.")
    ] = "build/{mpi}/bin",
    cores: Annotated[str, typer.Option("--cores", metavar="N", help="Cores a node.")] = "",
    reserve: Annotated[
        str, typer.Option("--reserve", metavar="N", help="Cores a rank for the engine, beside its own.")
    ] = "",
    feature: Annotated[
        list[str], typer.Option("--feature", metavar="F", help=f"What the nodes have: {', '.join(NODE_FEATURES)}.")
    ] = [],  # noqa: B006
    hostname: Annotated[str, typer.Option("--hostname", metavar="REGEX", help="The login nodes; default: this.")] = "",
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
) -> int:
    """Write a site's file from options, or from answers on a terminal, and check it on this host.

    Example: ./bench site new mycluster.py --name mycluster --scheduler slurm --partition batch --fabric infiniband
    --mpi openmpi --spack-site mycluster --cores 64
    """
    _check_suffix(file)
    if file.exists() and not force:
        raise UsageError(f"{file} is there already: --force replaces it.")
    name = _ask("--name", name, "What is the cluster called?", default=file.stem)
    scheduler = _ask("--scheduler", scheduler, "Which batch system?", SCHEDULERS)
    partition = _ask("--partition", partition, "Which partition or queue? (Enter: its default)", default="")
    started = DEFAULT_LAUNCHERS.get(scheduler, "mpirun")
    launcher = _ask("--launcher", launcher, "How do ranks start: srun, or mpirun, mpiexec of the MPI?", default=started)
    if not mpi:
        spack_site = _ask(
            "--spack-site", spack_site, "Which site of ./bench spack site? (Enter: MPIs are here)", default=""
        )
    if not spack_site:
        modules_system = _ask("--modules-system", modules_system, "Which modules?", MODULES_SYSTEMS, default="nomod")
    answers = Answers(
        name=name,
        scheduler=scheduler,
        launcher=launcher,
        fabric=fabric or next(iter(FABRICS)),
        mpis=[SiteMpi.parse(text, compiler) for text in mpi or _ask("--mpi", "", WHICH_MPIS).split()],
        hostname=hostname or f"^{re.escape(socket.gethostname())}$",
        access=_access(scheduler, partition, account),
        pmi=pmi,
        modules_system=modules_system or "nomod",
        spack_site=spack_site,
        bin_dir=bin_dir,
        cores=_count("--cores", _ask("--cores", cores, "How many cores has a node?")),
        progress_cores=_count("--reserve", _ask("--reserve", reserve, RESERVED, default="0"), least=0),
        node_features=feature or _ask("--feature", "", NODES_HAVE, default="").split(),
    )
    answers.check()
    return _write(file, replace(answers, fabric=_ask("--fabric", fabric, "Which network?", tuple(FABRICS))))


def _check_suffix(file: Path) -> None:
    if file.suffix != ".py":
        raise UsageError(f"{file}: a site's file is a Python file, so its name ends in .py.")


def _access(scheduler: str, partition: str, account: str) -> list[str]:
    queue, charged = {"pbs": ("-q ", "-A "), "torque": ("-q ", "-A "), "flux": ("--queue=", "--bank=")}.get(
        scheduler, ("--partition=", "--account=")
    )
    return [option + text for option, text in ((queue, partition), (charged, account)) if text]


def _write(file: Path, answers: Answers) -> int:
    text = answers.text()
    # Checked under another name first: a file that is there says what is right here.
    trial = file.with_name(f"{file.stem}_unchecked.py")
    try:
        trial.write_text(text)
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}.") from error
    try:
        site_file.read(trial.resolve())
    except UsageError:
        print(f"what does not fit is in {trial}", file=sys.stderr)
        raise
    trial.replace(file)
    print(f"written and checked: {file}")
    print(f"next: ./bench run overlap-ratio --system {file} --dry-run")
    return 0


def check(file: Annotated[Path, typer.Argument(metavar="FILE", help="A site's file.")]) -> int:
    """Check a site's file on this host, whole: nothing is submitted. Example: ./bench site check mycluster.py"""
    _check_suffix(file)
    if not file.is_file():
        raise UsageError(f"{file} is not there: ./bench site new {file} writes one.")
    several = site_file.partitions(file.resolve())
    for partition in several:
        site = site_file.read(file.resolve(), partition)
        where = f"{site.system}:{partition}" if len(several) > 1 else site.system
        for name, programs in site.programs.items():
            print(f"{where}, {name}: {'Spack installs it in' if name in site.spack else 'programs in'} {programs}")
    return 0


SiteName = Annotated[str, typer.Option("--site", metavar="NAME", help="A site that ./bench spack site has made.")]
Names = Annotated[list[str], typer.Argument(metavar="ENVIRONMENT", help=f"Any of {', '.join(ENVIRONMENTS)}; or all.")]


def _chosen(names: list[str], site: str) -> list[spack.SiteEnvironment]:
    every = list(ENVIRONMENTS) if names == ["all"] else names
    return [spack.SiteEnvironment(site, spack.environment(name)) for name in every]


def site(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What to call this machine or cluster.")] = HERE,
    template: Annotated[
        str, typer.Option("--template", metavar="T", help=f"The fabric: {', '.join(make_site.templates())}.")
    ] = make_site.WHEELS,
    mpi: Annotated[
        list[Path], typer.Option("--mpi-prefix", metavar="DIR", help="An MPI that is not on PATH, by its prefix.")
    ] = [],  # noqa: B006 - Typer copies it
) -> int:
    """Write a site's packages.yaml from what this machine has, and say what was found.

    Example: ./bench spack site mycluster --template infiniband
    """
    made = make_site.make(name, template, mpi)
    for found in made.found:
        print(f"{found.spec}: {found.how}")
    for reason in made.left_out:
        print(f"left out: {reason}")
    print(f"written: {made.folder / 'packages.yaml'}")
    return 0


def concretize(names: Names, site: SiteName = HERE) -> int:
    """Let Spack choose versions and variants, and print what it chose for the engine and the workloads.

    Example: ./bench spack concretize mpich openmpi
    """
    chosen = _chosen(names, site)
    spack.require()
    for environment in chosen:
        environment.concretize()
        for spec in environment.lock()["specs"].values():
            print(spec)
    return 0


def install(names: Names, site: SiteName = HERE) -> int:
    """Build and install an environment. Example: ./bench spack install mpich"""
    chosen = _chosen(names, site)
    spack.require()
    for environment in chosen:
        environment.install()
        print(f"{environment.environment.name}: installed, its programs are in {environment.bin}")
    return 0


def smoke(
    names: Names,
    site: SiteName = HERE,
    launcher: Annotated[
        str, typer.Option("--launcher", metavar="CMD", help="How two ranks start here.")
    ] = spack_smoke.LAUNCHER,
    as_json: options.Json = False,
) -> int:
    """Run what was installed on 2 ranks with the engine, and check which MPI library answered.

    Example: ./bench spack smoke mpich --launcher "srun -n 2 --mpi=pmi2"
    """
    chosen = _chosen(names, site)
    if without := [c.environment.name for c in chosen if not c.environment.library]:
        raise UsageError(f"Environment {without[0]} holds other people's codes and no engine: nothing to smoke-test.")
    spack.require()
    answers = [spack_smoke.run(environment, launcher) for environment in chosen]
    for answer in answers:
        print(json.dumps(answer) if as_json else f"{answer['environment']}: {answer['library']}; {answer['engine']}")
    return 0
