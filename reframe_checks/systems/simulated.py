# SPDX-License-Identifier: BSD-3-Clause
"""ReFrame's view of the simulated system: jobs run here, and their launches nowhere (simulator).

One rank a host of the platform. Which model predicts says harness.base.simulation.
"""

from __future__ import annotations

import socket
from pathlib import Path

from harness.base import simulation
from reframe_checks.systems import common

NAME = "simulated"


def _environment(model: Path, mpi: str) -> common.Config:
    command = [str(simulation.PROGRAM), f"--platform={model / simulation.PLATFORM}", f"--model={model / mpi}.json"]
    own_thread = simulation.has_own_thread(model, mpi)
    return {
        "name": mpi,
        "cc": "",
        "features": ["mpi"],
        "extras": {
            "mpi": mpi,
            "library": "simulated",
            "bin_dir": str(simulation.BIN),
            "async_progress": simulation.ASYNC_PROGRESS if own_thread else {},
            "simulate": command,
        },
        "target_systems": [NAME],
    }


def configuration() -> common.Config:
    model = simulation.folder()
    names = simulation.mpis(model)
    partition = common.partition(
        "model",
        "local",
        environs=names,
        features=["remote"],
        extras={
            "nodes": simulation.hosts(model),
            "cores": 1,
            "network": f"simulated: the model {model.name}, bandwidth shared by SimGrid",
            "simulated": simulation.files(model),
            "check_interfaces": False,
        },
    )
    environments = [_environment(model, mpi) for mpi in names]
    return common.site(NAME, [socket.gethostname()], [partition], network="", environments=environments)


site_configuration = configuration()
