# SPDX-License-Identifier: BSD-3-Clause
"""ReFrame's view of the two emulated machines (harness.rdma_lab).

ReFrame and its jobs run on this machine, where they are fast, and each launch on the emulated ones.
"""

from __future__ import annotations

import os
import socket

from harness.base.mpis import MPIS
from harness.base.paths import python
from harness.job.reap import MARK
from harness.rdma_lab import attend, lab, lab_settings, reap_guests
from harness.rdma_lab.lab_folder import bin_dir
from reframe_checks.systems import common

NAME = "rdma-lab"


def _extras(running: lab.Lab) -> common.Config:
    own = [name for name in os.environ if name.startswith("UCX_")]
    return {
        "launch": "mpiexec",
        "via": python("-m", attend.__name__),
        "hosts": list(lab_settings.NODES),
        "exports": sorted(own),
        "nodes": len(lab_settings.NODES),
        "cores": 1,
        "network": running.network_description,
        "emulated": True,
        "reap": python("-m", reap_guests.__name__, MARK),
    }


def _environment(name: str) -> common.Config:
    made = common.environment(MPIS[name], "default", [NAME])
    verbs = lab_settings.OPENMPI if MPIS[name].family == "openmpi" else {}
    made["env_vars"] = [[key, value] for key, value in {**dict(made["env_vars"]), **verbs}.items()]
    made["extras"] |= {"bin_dir": str(bin_dir(name)), "shared_memory": {}}
    return made


def configuration() -> common.Config:
    """Without the machines ReFrame can still list tests."""
    running = lab.load()
    partition = common.partition(
        "verbs",
        "local",
        environs=list(lab_settings.MPIS),
        features=["rdma", "remote"] if running else [],
        extras=_extras(running) if running else {},
    )
    environments = [_environment(name) for name in lab_settings.MPIS]
    return common.site(NAME, [socket.gethostname()], [partition], network="", environments=environments)


site_configuration = configuration()
