# SPDX-License-Identifier: BSD-3-Clause
"""The parts that this repository's own system files share; a site's file may use them, too.

What a check has to know of a system stands in `features` and `extras`, so that none ever asks which system it is on:

partition features (reframe_checks.catalogue says what needs them):
    smt                cores have a second hardware thread, and a node has all of a core's
    rdma               the network interface has RDMA
    remote             ranks can be on several nodes
    mwait              user mode can wait for a store: UMWAIT or MWAITX
    two-sockets        a node has CPUs of two sockets at least

The extras of partitions and environments are in reframe_checks.systems.extras.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping
from typing import Any

from harness.base import machine
from harness.base.mpis import MPIS, Mpi, installed
from harness.base.paths import IN_CLONE, MPI_DIR
from spack_env.mpi_environments import ENVIRONMENTS
from spack_env.site_environment import SiteEnvironment

Config = dict[str, Any]

LOOPBACK = "processes of one host over the loopback interface, no rate limit; not a network between nodes"


def environment(mpi: Mpi, network: str, systems: list[str]) -> Config:
    """A ReFrame environment for one of the harness's own MPIs."""
    return {
        "name": mpi.name,
        "cc": str(mpi.mpicc),
        "cxx": "",
        "ftn": "",
        "features": ["mpi"],
        "env_vars": [[name, value] for name, value in mpi.environment(network).items()],
        "extras": {
            "mpi": mpi.name,
            "library": mpi.library,
            "bin_dir": str(mpi.build_dir / "bin"),
            "async_progress": dict(mpi.async_progress),
            "shared_memory": dict(mpi.shared_memory),
        },
        "target_systems": systems,
    }


def partition(name: str, scheduler: str, max_jobs: int = 1, **more: Any) -> Config:
    """A partition on which every installed MPI of the harness can run."""
    return {
        "name": name,
        "scheduler": scheduler,
        "launcher": "local",
        "environs": [mpi.name for mpi in installed()],
        "max_jobs": max_jobs,
        **more,
    }


def features(cpus: set[int], remote: bool) -> list[str]:
    """What a node with these CPUs of this machine offers."""
    facts = machine.facts()
    rdma = any(str(nic["driver"]).startswith(machine.RDMA_DRIVERS) for nic in facts["nics"])
    smt = any(len(core) > 1 for core in machine.available_cores(cpus))
    sockets = {machine.socket_of(cpu) for cpu in cpus}
    offered = {
        "smt": smt,
        "rdma": rdma,
        "remote": remote,
        "mwait": facts["mwait"] is not None,
        "two-sockets": len(sockets) > 1,
    }
    return [name for name, there in offered.items() if there]


def from_spack(built: SiteEnvironment) -> Config:
    """The extras of an environment whose engine and workloads Spack installs."""
    return {"bin_dir": str(built.bin), "spack": {"site": built.site, "environment": built.environment.name}}


def spack_environment(site: str, name: str, system: str, env_vars: Mapping[str, str] | None = None) -> Config:
    """A site's environment that is spack_env's of this name: MPI, engine and workloads all come from Spack."""
    built = SiteEnvironment(site, ENVIRONMENTS[name])
    return {
        "name": name,
        "cc": "",
        "features": ["mpi"],
        "env_vars": [[key, value] for key, value in {**built.environment.needs, **(env_vars or {})}.items()],
        "extras": {
            "mpi": name,
            "library": built.environment.library,
            "async_progress": dict(built.environment.async_progress),
            **from_spack(built),
        },
        "target_systems": [system],
    }


def site(
    name: str,
    hostnames: list[str],
    partitions: list[Config],
    network: str,
    spack: Mapping[str, SiteEnvironment] | None = None,
    environments: list[Config] | None = None,
) -> Config:
    """A whole ReFrame configuration of one system. `spack`: the MPIs for which Spack builds; then no other is there.

    `environments`: those that it has instead of the MPIs installed here.
    """
    system = {"name": name, "hostnames": hostnames, "modules_system": "nomod", "partitions": partitions}
    if environments is None:
        environments = [environment(MPIS[mpi.name], network, [name]) for mpi in installed()]
        if not environments:
            _say_no_mpi()
    if spack is not None:
        environments = [known for known in environments if known["name"] in spack]
        for known in environments:
            known["extras"] |= from_spack(spack[known["name"]])
        for partition in partitions:
            partition["environs"] = [known["name"] for known in environments]
    return {
        "systems": [system],
        "environments": environments,
        "logging": [{"handlers": [_screen()], "handlers_perflog": [_perflog()]}],
    }


@functools.cache
def _say_no_mpi() -> None:
    """Once, though ReFrame reads several of these files; itself it says no more than that it found no checks."""
    print(
        f"No MPI is installed in {MPI_DIR}, nor any of Debian's, so no check can run on this system: "
        f"`{'./' if IN_CLONE else ''}bench exec --mpi mpich -- true` installs one, with the engine.",
        file=sys.stderr,
    )


def _screen() -> Config:
    return {"type": "stream", "name": "stdout", "level": "info", "format": "%(message)s"}


def _perflog() -> Config:
    return {
        "type": "filelog",
        "prefix": "%(check_system)s/%(check_partition)s",
        "level": "info",
        "append": True,
        "format": "%(check_result)s|%(check_job_completion_time)s|%(check_display_name)s|%(check_system)s:"
        "%(check_partition)s|%(check_environ)s|%(check_jobid)s|%(check_perfvalues)s",
        "format_perfvars": "%(check_perf_value)s|%(check_perf_unit)s|",
    }
