# SPDX-License-Identifier: BSD-3-Clause
"""This machine alone: ranks as processes of one host that talk over loopback.

The fall-back where no virtual nodes can be made. Both ends share one network stack and its memory, so it shows less
than two nodes do, and the records say what it was.
"""

from __future__ import annotations

import os
import socket

from harness.base.machine import available_cores
from reframe_checks.systems import common


def _extras(ranks: int = 2) -> common.Config:
    cpus = len(os.sched_getaffinity(0))
    return {
        "launch": "mpiexec",
        "bind": cpus >= ranks,
        "network": common.LOOPBACK,
        "cpus_too_few": "" if cpus >= ranks else f"{ranks} ranks share {cpus} CPU",
        "nodes": 1,
        "cores": len(available_cores()),
    }


site_configuration = common.site(
    "local",
    [socket.gethostname()],
    [
        common.partition(
            "loopback", "local", features=common.features(os.sched_getaffinity(0), remote=False), extras=_extras()
        )
    ],
    network="tcp",
)
