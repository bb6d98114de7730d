# SPDX-License-Identifier: BSD-3-Clause
"""The virtual cluster as a system: launched from its login node, under its Slurm, or with what Spack has built."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence

from harness.base.errors import Failure, UsageError
from harness.base.mpis import MPIS
from harness.setup import environment
from harness.setup.build import ensure_mpis
from harness.sites.systems import SYSTEMS_DIR, Opened, System
from harness.vcluster import cluster as virtual
from harness.vcluster import slurm
from spack_env import site_environment as spack


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
        environment.ensure_packages("vcluster")
    return virtual.supported()


def virtual_slurm_supported() -> str | None:
    """The same with Slurm on them."""
    with contextlib.suppress(Failure):
        environment.ensure_packages("slurm")
    return slurm.missing() or virtual_supported()


def virtual_spack_supported() -> str | None:
    """The same, with Spack on PATH."""
    return spack.supported() or virtual_supported()


class _VirtualFromSpack(System):
    """The MPIs from PyPI, the engine and the workloads built for them by Spack."""

    def set_up(self, programs: Mapping[str, Sequence[str]], offload: bool = True) -> None:
        spack.require()
        ensure_mpis(*(MPIS[name] for name in programs))
        spack.ensure_here()
        super().set_up(programs, offload)


SYSTEMS = {
    system.name: system
    for system in (
        System(
            name="vcluster",
            config=SYSTEMS_DIR / "vcluster.py",
            open=_open_virtual,
            why_not=virtual_supported,
            stays=_virtual_stays,
        ),
        System(
            name="vcluster-slurm",
            config=SYSTEMS_DIR / "vcluster_slurm.py",
            open=_open_virtual_slurm,
            why_not=virtual_slurm_supported,
        ),
        _VirtualFromSpack(
            name="vcluster-spack",
            config=SYSTEMS_DIR / "vcluster_spack.py",
            open=_open_virtual,
            why_not=virtual_spack_supported,
            programs={name: environment.bin for name, environment in spack.FROM_SPACK.items()},
            spack=spack.FROM_SPACK,
        ),
    )
}
