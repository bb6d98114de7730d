# SPDX-License-Identifier: BSD-3-Clause
"""ReFrame's view of the virtual cluster, read on its login node: `./bench vcluster exec vc0 -- reframe -C ...`."""

from __future__ import annotations

import sys

from reframe_checks.systems import common
from reframe_checks.systems.vcluster import cluster


def _extras() -> common.Config:
    running = cluster.load()
    if running is None:  # ReFrame may list tests without one
        return {}
    shared = running.settings.shared_cpus
    return {
        "launch": "mpiexec",
        "hosts": running.hosts,
        "remote_shell": running.remote_shell,
        "network": running.network_description,
        "cpus_shared": True,
        "cpus_too_few": "more virtual nodes than CPUs" if shared else "",
        "sweep": [sys.executable, "-m", "reframe_checks.systems.vcluster.sweep"],
    }


site_configuration = common.site(
    "vcluster", [r"vc0"], [common.partition("compute", "local", extras=_extras())], network="tcp"
)
