# SPDX-License-Identifier: BSD-3-Clause
"""./bench spack: the engine and the workloads through Spack, one environment an MPI."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from harness.base.errors import UsageError
from harness.commands import options
from spack_env import make_site
from spack_env import site_environment as spack
from spack_env import smoke as spack_smoke
from spack_env.mpis import ENVIRONMENTS
from spack_env.site_environment import HERE

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
        str,
        typer.Option("--launcher", metavar="CMD", help="How two ranks start here."),
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
