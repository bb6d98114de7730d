# SPDX-License-Identifier: BSD-3-Clause
"""ReFrame's view of the virtual cluster, read on its login node: `./bench vcluster exec vc0 -- reframe -C ...`.

Three systems on the same nodes: `vcluster` launches from the login node over the ssh stand-in; `vcluster-spack` runs so
what Spack installed; `vcluster-slurm` submits each check as one batch job to a real Slurm.
"""

from __future__ import annotations

from collections.abc import Mapping

from harness.base.machine import available_cores
from harness.base.paths import python
from harness.vcluster import cluster
from reframe_checks.systems import common
from spack_env.site_environment import SiteEnvironment


def _extras(running: cluster.Cluster) -> common.Config:
    shared = running.settings.shared_cpus
    return {
        "launch": "mpiexec",
        "network": running.network_description,
        "network_measured": running.measured(),
        "settle_s": running.settings.line.settle_s if running.settings.line else 0.0,
        "cpus_shared": True,
        "cpus_too_few": "more virtual nodes than CPUs" if shared else "",
        "cores": min(len(available_cores(cpus)) for cpus in _nodes(running)),
        "reap": python("-m", "harness.vcluster.reap_nodes"),
    }


def _nodes(running: cluster.Cluster) -> list[set[int]]:
    """The CPUs of each compute node."""
    return [set(running.settings.cpus[host]) for host in running.hosts]


def _features(running: cluster.Cluster) -> list[str]:
    """What every compute node has."""
    offered = [set(common.features(cpus, remote=len(running.hosts) > 1)) for cpus in _nodes(running)]
    return sorted(set.intersection(*offered))


def configuration(name: str, spack: Mapping[str, SiteEnvironment] | None = None) -> common.Config:
    """The configuration of one of the three; without a cluster ReFrame can still list tests."""
    running = cluster.load()
    extras = _extras(running) if running else {}
    features = _features(running) if running else []
    scheduler = "slurm" if name == "vcluster-slurm" else "local"
    if running and scheduler == "local":
        # the login node has all CPUs, and nothing else runs on it meanwhile
        alone = {"hosts": [running.login], "cores": len(available_cores(set(running.settings.cpus[running.login])))}
        extras |= {"hosts": running.hosts, "remote_shell": running.remote_shell, "alone": alone}
    partition = common.partition("compute", scheduler, features=features, extras=extras)
    return common.site(name, [r"vc0"], [partition], network="tcp", spack=spack)


site_configuration = configuration("vcluster")
