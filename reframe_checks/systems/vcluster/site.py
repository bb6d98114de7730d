# SPDX-License-Identifier: BSD-3-Clause
"""ReFrame's view of the virtual cluster, read on its login node: `./bench vcluster exec vc0 -- reframe -C ...`.

Two systems on the same nodes: `vcluster` launches from the login node over the ssh stand-in; `vcluster-slurm` submits
each check as one batch job to a real Slurm.
"""

from __future__ import annotations

import sys

from reframe_checks.systems import common
from reframe_checks.systems.vcluster import cluster
from reframe_checks.systems.vcluster.cpus import available_cores


def _extras(running: cluster.Cluster) -> common.Config:
    shared = running.settings.shared_cpus
    return {
        "launch": "mpiexec",
        "network": running.network_description,
        "settle_s": running.settings.bucket_s,
        "cpus_shared": True,
        "cpus_too_few": "more virtual nodes than CPUs" if shared else "",
        "cores": min(len(available_cores(cpus)) for cpus in _nodes(running)),
        "sweep": [sys.executable, "-m", "reframe_checks.systems.vcluster.sweep"],
    }


def _nodes(running: cluster.Cluster) -> list[set[int]]:
    """The CPUs of each compute node."""
    return [set(running.settings.cpus[host]) for host in running.hosts]


def _features(running: cluster.Cluster) -> list[str]:
    """What every compute node has."""
    offered = [set(common.features(cpus, remote=len(running.hosts) > 1)) for cpus in _nodes(running)]
    return sorted(set.intersection(*offered))


def configuration(name: str) -> common.Config:
    """The configuration of `vcluster` or `vcluster-slurm`; without a cluster ReFrame can still list tests."""
    running = cluster.load()
    extras = _extras(running) if running else {}
    features = _features(running) if running else []
    if name == "vcluster":
        if running:
            extras |= {"hosts": running.hosts, "remote_shell": running.remote_shell}
        partition = common.partition("compute", "local", features=features, extras=extras)
    else:
        partition = common.partition("compute", "slurm", features=features, extras=extras)
    return common.site(name, [r"vc0"], [partition], network="tcp")


site_configuration = configuration("vcluster")
