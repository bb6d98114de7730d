# SPDX-License-Identifier: BSD-3-Clause
"""ReFrame's view of the simulated system: jobs run here, and their launches nowhere (simulator).

One rank a host of the platform. Which model predicts says harness.simulated.model_folder.
"""

from __future__ import annotations

import socket
from pathlib import Path

from harness.simulated import model_folder
from reframe_checks.systems import common

NAME = "simulated"


def _environment(model: Path, mpi: str) -> common.Config:
    command = [str(model_folder.PROGRAM), f"--platform={model / model_folder.PLATFORM}", f"--model={model / mpi}.json"]
    own_thread = model_folder.has_own_thread(model, mpi)
    return {
        "name": mpi,
        "cc": "",
        "features": ["mpi"],
        "extras": {
            "mpi": mpi,
            "library": "simulated",
            "bin_dir": str(model_folder.BIN),
            "async_progress": model_folder.ASYNC_PROGRESS if own_thread else {},
            "simulate": command,
        },
        "target_systems": [NAME],
    }


def configuration() -> common.Config:
    model = model_folder.folder()
    names = model_folder.mpis(model)
    partition = common.partition(
        "model",
        "local",
        environs=names,
        features=["remote"],
        extras={
            "nodes": model_folder.hosts(model),
            "cores": 1,
            "network": f"simulated: the model {model.name}, bandwidth shared by SimGrid",
            "simulated": model_folder.files(model),
            "check_interfaces": False,
        },
    )
    environments = [_environment(model, mpi) for mpi in names]
    return common.site(NAME, [socket.gethostname()], [partition], network="", environments=environments)


site_configuration = configuration()
