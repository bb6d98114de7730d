# SPDX-License-Identifier: BSD-3-Clause
"""The systems that ./bench knows by name, and any other by its ReFrame configuration file.

A system is brought up for as long as something runs on it, and says how a command gets to its login node; the rest
stands in its ReFrame file (reframe_checks/systems). The file of a kind is imported when one of it is asked for: what
makes virtual nodes or boots machines takes longer to import than all else that a list of them needs.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from harness.base.errors import UsageError, meant, there_are
from harness.base.mpis import MPIS, WHEEL_MPIS
from harness.base.mpis import by_name as mpi_by_name
from harness.base.paths import ROOT
from harness.base.validate import parse_list
from harness.base.variants import check_settings
from harness.job.session import Facts
from reframe_checks import jobs
from reframe_checks.catalogue import by_names

if TYPE_CHECKING:
    from spack_env.site_environment import SiteEnvironment

SYSTEMS_DIR = ROOT / "reframe_checks" / "systems"
LOCAL = "local"
# Name -> what it is, and the file here that has it in SYSTEMS; empty: this one.
SUMMARIES = {
    "vcluster": ("virtual nodes on this machine, each with CPUs and a network interface of its own", "virtual"),
    "vcluster-slurm": ("the same under a real Slurm, one batch job a check", "virtual"),
    "vcluster-spack": ("virtual nodes, with engine and workloads installed by Spack", "virtual"),
    "rdma-lab": ("two emulated machines with RDMA (soft-RoCE), for what happens there and not how fast", "emulated"),
    "simulated": ("a prediction by a model of the MPIs and SimGrid's network, for 2 to 4,096 ranks", "simulated"),
    LOCAL: ("processes of this machine over loopback", ""),
}


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
    config: Path
    open: Callable[[int], contextlib.AbstractContextManager[Opened]]
    why_not: Callable[[], str | None] = lambda: None
    exclusive: bool = True
    stays: Callable[[], bool] = lambda: False
    programs: Mapping[str, Path] | None = None
    spack: Mapping[str, SiteEnvironment] = field(default_factory=dict)
    partition: str = ""
    emulated: bool = False
    model: Callable[[], dict[str, str]] = dict
    apps: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # of each MPI: code -> the folder it is in

    @property
    def own_mpis(self) -> bool:
        return self.programs is None

    def set_up(self, programs: Mapping[str, Sequence[str]], offload: bool = True) -> None:
        """Have what launches need, the engine (with its library for `offload`, if that may be asked for) and each
        MPI's `programs` of the workloads: built here, by Spack, or the site's own affair."""
        if self.own_mpis:
            from harness.setup import build  # noqa: PLC0415 - a list of systems builds nothing

            build.ensure_each([(MPIS[name], (*build.engine(offload), *some)) for name, some in programs.items()])
            return
        from spack_env import site_environment as spack  # noqa: PLC0415 - most systems have none

        for name in programs:
            if name in self.spack:
                spack.require()
                self.spack[name].install()

    def programs_of(self, mpi: str) -> Path:
        """Where the workloads and the engine's tools for this MPI are."""
        return MPIS[mpi].build_dir / "bin" if self.programs is None else self.programs[mpi]


Request = jobs.Request[System]  # a run as ./bench is asked for it


@contextlib.contextmanager
def _open_here(_nodes: int) -> Iterator[Opened]:
    from reframe_checks.systems.common import LOOPBACK  # noqa: PLC0415 - it takes the MPIs of Spack along

    yield Opened(login=list, network=LOOPBACK)


class _Builtin(Mapping[str, System]):
    """Each made when it is asked for."""

    def __getitem__(self, name: str) -> System:
        if name not in SUMMARIES:
            raise KeyError(name)
        _, file = SUMMARIES[name]
        if not file:
            return System(LOCAL, SYSTEMS_DIR / "local.py", open=_open_here, stays=lambda: True)
        found: dict[str, System] = importlib.import_module(f"harness.sites.{file}").SYSTEMS
        return found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(SUMMARIES)

    def __len__(self) -> int:
        return len(SUMMARIES)


BUILTIN = _Builtin()


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
        from harness.sites import site_file  # noqa: PLC0415 - ReFrame's own file of a site is read by it alone
        from spack_env import site_environment as spack  # noqa: PLC0415

        site = site_file.read(path.resolve(), partition)
        return System(
            name=site.system,
            config=path.resolve(),
            open=_open_site,
            why_not=spack.supported if site.spack else lambda: None,
            exclusive=False,
            programs=site.programs,
            spack=site.spack,
            partition=site.partition,
            apps=site.apps,
        )
    if path.suffix == ".py":
        raise UsageError(f"There is no system called '{name}', and no such file: give the path of a site's file.")
    raise UsageError(
        f"There is no system called '{name}'. {meant(name, BUILTIN)}There are: {', '.join(BUILTIN)}; "
        "or give the path of a ReFrame configuration file (.py)."
    )


def default() -> tuple[System, str]:
    """The best system of this machine, and the sentence why it is not the virtual cluster (empty if it is)."""
    reason = BUILTIN["vcluster"].why_not()
    return (BUILTIN["vcluster"], "") if reason is None else (BUILTIN["local"], reason)


def from_facts(facts: Facts) -> Request:
    """The request that a session.json holds; UsageError if it holds none."""
    asked = facts.request
    if asked is None:
        raise UsageError(f"The session.json of {facts.session} does not say what was asked for: it has no request.")
    # by name, since the checkout may have been moved; a site's own file may name its system as it likes
    builtin = facts.system in BUILTIN and f"/{SYSTEMS_DIR.relative_to(ROOT)}/" in f"/{asked.config}"
    file = ":".join(filter(None, [asked.config, asked.partition]))
    system = by_name(facts.system if builtin else file)
    return Request(
        studies=[study.with_program(asked.program) for study in by_names(facts.studies)],
        system=system,
        mpis=_known_mpis(facts.mpi_names, system),  # whether they are here is asked by who runs it
        asked=replace(asked, config=str(system.config), partition=system.partition),
        scale=facts.scale,
    )


def choose_mpis(text: str | None, system: System) -> list[str]:
    """The MPIs named, or all that the harness installs itself; of a site, all that its file names.

    UsageError for one that is not known, or a Debian package that is not here.
    """
    names = _known_mpis(parse_list(text), system)
    if system.programs is not None:
        return names or list(system.programs)
    for mpi in map(mpi_by_name, names):
        if not mpi.wheels and not mpi.installed():
            raise UsageError(f"{mpi.title} is not installed: sudo apt-get install {' '.join(mpi.packages)}")
    return names or list(WHEEL_MPIS)


def _known_mpis(names: list[str], system: System) -> list[str]:
    """The names, if the system, or the table of MPIs, has them all; UsageError else."""
    if system.programs is None:
        return [mpi_by_name(name).name for name in names]
    if unknown := [name for name in names if name not in system.programs]:
        raise UsageError(f"{system.config} has no MPI '{unknown[0]}'. {there_are(unknown[0], system.programs)}")
    return names


def set_up(request: Request) -> None:
    """Have every MPI that is run on installed, and the engine and what its studies run built for it."""
    programs = request.programs()
    request.system.set_up(programs, request.may_offload())
    for mpi in programs:
        check_settings(request.asked.variants, request.system.programs_of(mpi))
