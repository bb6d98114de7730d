# SPDX-License-Identifier: BSD-3-Clause
"""The systems that ./bench knows by name, and any other by its ReFrame configuration file.

A system is brought up for as long as something runs on it, and says how a command gets to its login node; the rest
stands in its ReFrame file (reframe_checks/systems).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.base import simulation
from harness.base.errors import Failure, UsageError
from harness.base.mpis import MPIS
from harness.base.paths import ROOT
from harness.rdma_lab import build as lab_build
from harness.rdma_lab import lab
from harness.rdma_lab.settings import MPIS as LAB_MPIS
from harness.rdma_lab.settings import NODES as LAB_NODES
from harness.rdma_lab.state import bin_dir
from harness.setup import build, packages
from harness.setup import mpi as mpi_setup
from harness.sites import model_file, simulated, site_file
from harness.vcluster import cluster as virtual
from harness.vcluster import slurm
from reframe_checks.systems.common import LOOPBACK
from spack_env import site_environment as spack

SYSTEMS_DIR = ROOT / "reframe_checks" / "systems"


@dataclass(frozen=True)
class Opened:
    """A system that is up. `login` turns a command line into one that runs it on the login node.

    `alive`: is it still up? Virtual nodes can be killed, or taken down by hand.
    """

    login: Callable[[list[str]], list[str]]
    network: str
    measured: Mapping[str, float] = field(default_factory=dict)  # of the network, bits/s, where that is known
    alive: Callable[[], bool] = lambda: True
    note: str = ""  # what the user should know about how it came up


@dataclass(frozen=True)
class System:
    """`config`: ReFrame's file; `exclusive`: one session at a time on it; `stays`: up before and after its use.

    `programs`: a site's MPIs and their programs; None: the harness's own run on it. `spack`: those of them that Spack
    builds. `partition`: which of a site's, since a session is of one; empty: the only one there is. `emulated`: its
    processors are. `model`: nothing is measured on it, a model predicts: the files that do, with their hashes.
    """

    name: str
    summary: str
    config: Path
    open: Callable[[int], contextlib.AbstractContextManager[Opened]]
    why_not: Callable[[], str | None] = lambda: None
    exclusive: bool = True
    stays: Callable[[], bool] = lambda: False
    programs: Mapping[str, Path] | None = None
    spack: Mapping[str, spack.SiteEnvironment] = field(default_factory=dict)
    partition: str = ""
    emulated: bool = False
    model: Callable[[], dict[str, str]] = dict
    apps: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # of each MPI: code -> the folder it is in

    @property
    def own_mpis(self) -> bool:
        return self.programs is None

    def set_up(self, programs: Mapping[str, Sequence[str]], engine: Sequence[str] = build.ENGINE) -> None:
        """Have what launches need, `engine` and each MPI's `programs` of the workloads: built here, by Spack, or
        the site's own affair."""
        if self.own_mpis:
            build.ensure_each([(MPIS[name], (*engine, *some)) for name, some in programs.items()])
            return
        for name in programs:
            if name in self.spack:
                spack.require()
                self.spack[name].install()

    def programs_of(self, mpi: str) -> Path:
        """Where the workloads and the engine's tools for this MPI are."""
        return MPIS[mpi].build_dir / "bin" if self.programs is None else self.programs[mpi]


@contextlib.contextmanager
def _open_here(_nodes: int) -> Iterator[Opened]:
    yield Opened(login=list, network=LOOPBACK)


@contextlib.contextmanager
def _open_virtual(nodes: int, with_slurm: bool = False) -> Iterator[Opened]:
    """Use the virtual cluster that is up, or bring one up for as long as this process lives."""
    running = virtual.load()
    if running and not running.healthy():
        running = None  # a node died: up() replaces the whole cluster
    up = f"./bench vcluster up --nodes {nodes}{' --slurm' if with_slurm else ''}"
    if running and (len(running.hosts) < nodes or (with_slurm and not running.settings.slurm)):
        has = f"{len(running.hosts)} nodes and {'a' if running.settings.slurm else 'no'} Slurm"
        raise UsageError(f"The virtual cluster that is up has {has}: ./bench vcluster down, then {up}.")
    cluster = running or virtual.up(nodes=nodes, tied=True, slurm=with_slurm)
    try:
        yield Opened(
            login=lambda command: cluster.command(cluster.login, command),
            network=cluster.network_description,
            measured=cluster.measured(),
            alive=cluster.healthy,
            note="using the virtual cluster that is already up" if running else "",
        )
    finally:
        if not running:
            cluster.down()


def _virtual_stays() -> bool:
    """Are nodes up that ./bench vcluster made, and not those of another command for as long as it lives?"""
    running = virtual.load()
    return running is not None and not running.settings.tied and running.healthy()


def _open_virtual_slurm(nodes: int) -> contextlib.AbstractContextManager[Opened]:
    return _open_virtual(nodes, with_slurm=True)


def virtual_supported() -> str | None:
    """None, or the sentence why virtual nodes cannot be made here. Installs what is missing where it may."""
    with contextlib.suppress(Failure):
        packages.ensure("vcluster")
    return virtual.supported()


def virtual_slurm_supported() -> str | None:
    """The same with Slurm on them."""
    with contextlib.suppress(Failure):
        packages.ensure("slurm")
    return slurm.missing() or virtual_supported()


class _VirtualFromSpack(System):
    """The MPIs from PyPI, the engine and the workloads built for them by Spack."""

    def set_up(self, programs: Mapping[str, Sequence[str]], engine: Sequence[str] = build.ENGINE) -> None:
        spack.require()
        mpi_setup.ensure(*(MPIS[name] for name in programs))
        spack.ensure_here()
        super().set_up(programs, engine)


class _RdmaLab(System):
    """Debian's MPIs on the emulated machines, the engine and the workloads built for them in their own root."""

    def set_up(self, programs: Mapping[str, Sequence[str]], engine: Sequence[str] = build.ENGINE) -> None:
        for name, some in programs.items():
            lab_build.ensure(name, *engine, *some)


class _Simulated(System):
    """No MPI, and no engine: the simulator, by the names of what it stands for."""

    def set_up(self, programs: Mapping[str, Sequence[str]], engine: Sequence[str] = build.ENGINE) -> None:  # noqa: ARG002
        simulated.set_up(sorted({program for some in programs.values() for program in some}))


@contextlib.contextmanager
def _open_simulated(_nodes: int) -> Iterator[Opened]:
    model = simulation.folder()
    for mpi in simulation.mpis(model):
        model_file.read(model / f"{mpi}.json")
    yield Opened(login=list, network=simulated.network(model), note=f"predicted by the model in {model}")


def _simulated_programs() -> dict[str, Path]:
    """The MPIs of the model that is asked for. A wrong name is told when the system is used, not before."""
    with contextlib.suppress(UsageError):
        return {name: simulation.BIN for name in simulation.mpis(simulation.folder())}
    return {}


@contextlib.contextmanager
def _open_rdma_lab(nodes: int) -> Iterator[Opened]:
    """Use the emulated machines that are up, or boot them for as long as this process lives."""
    if nodes > len(LAB_NODES):
        raise UsageError(f"The RDMA laboratory has {len(LAB_NODES)} machines, not {nodes}.")
    with lab.open_() as running:
        yield Opened(
            login=list,  # the job runs here, and its launches there
            network=running.network_description,
            alive=running.healthy,
            note="" if running.created else "using the emulated machines that are already up",
        )


def virtual_spack_supported() -> str | None:
    """The same, with Spack on PATH."""
    return spack.supported() or virtual_supported()


BUILTIN: dict[str, System] = {
    system.name: system
    for system in (
        System(
            name="vcluster",
            summary="virtual nodes on this machine, each with CPUs and a network interface of its own",
            config=SYSTEMS_DIR / "vcluster.py",
            open=_open_virtual,
            why_not=virtual_supported,
            stays=_virtual_stays,
        ),
        System(
            name="vcluster-slurm",
            summary="the same under a real Slurm, one batch job a check",
            config=SYSTEMS_DIR / "vcluster_slurm.py",
            open=_open_virtual_slurm,
            why_not=virtual_slurm_supported,
        ),
        _VirtualFromSpack(
            name="vcluster-spack",
            summary="virtual nodes, with engine and workloads installed by Spack",
            config=SYSTEMS_DIR / "vcluster_spack.py",
            open=_open_virtual,
            why_not=virtual_spack_supported,
            programs={name: environment.bin for name, environment in spack.FROM_SPACK.items()},
            spack=spack.FROM_SPACK,
        ),
        _RdmaLab(
            name="rdma-lab",
            summary="two emulated machines with RDMA (soft-RoCE), for what happens there and not how fast",
            config=SYSTEMS_DIR / "rdma_lab.py",
            open=_open_rdma_lab,
            why_not=lab.supported,
            stays=lambda: lab.load() is not None,
            programs={name: bin_dir(name) for name in LAB_MPIS},
            emulated=True,
        ),
        _Simulated(
            name="simulated",
            summary="a prediction by a model of the MPIs and SimGrid's network, for 2 to 4,096 ranks",
            config=SYSTEMS_DIR / "simulated.py",
            open=_open_simulated,
            why_not=simulated.supported,
            exclusive=False,
            stays=lambda: True,
            programs=_simulated_programs(),
            model=lambda: simulation.files(simulation.folder()),
        ),
        System(
            name="local",
            summary="processes of this machine over loopback",
            config=SYSTEMS_DIR / "local.py",
            open=_open_here,
            stays=lambda: True,
        ),
    )
}


@contextlib.contextmanager
def _open_site(_nodes: int) -> Iterator[Opened]:
    yield Opened(login=list, network="")


def _file_and_partition(name: str) -> tuple[Path, str]:
    """site.py or site.py:partition, as it was given."""
    file, _, partition = name.rpartition(":")
    return (Path(file), partition) if file.endswith(".py") else (Path(name), "")


def by_name(name: str) -> System:
    """The system of this name, or of this ReFrame configuration file; UsageError otherwise."""
    if name in BUILTIN:
        return BUILTIN[name]
    path, partition = _file_and_partition(name)
    if path.suffix == ".py" and path.is_file():
        site = site_file.read(path.resolve(), partition)
        return System(
            name=site.system,
            summary="a site's own",
            config=path.resolve(),
            open=_open_site,
            why_not=spack.supported if site.spack else lambda: None,
            exclusive=False,
            programs=site.programs,
            spack=site.spack,
            partition=site.partition,
            apps=site.apps,
        )
    raise UsageError(
        f"There is no system called '{name}'. There are: {', '.join(BUILTIN)}; or give the path of a ReFrame "
        f"configuration file (.py)."
    )


def of_config(config: Path, name: str, partition: str, programs: Mapping[str, Path]) -> System:
    """The system on which ReFrame runs with this file. ReFrame has read it already, so it is not checked again."""
    for known in BUILTIN.values():
        if known.config == config:
            return known
    return System(
        name, "a site's own", config, open=_open_site, exclusive=False, programs=programs, partition=partition
    )


def default() -> tuple[System, str]:
    """The best system of this machine, and the sentence why it is not the virtual cluster (empty if it is)."""
    reason = BUILTIN["vcluster"].why_not()
    return (BUILTIN["vcluster"], "") if reason is None else (BUILTIN["local"], reason)
