# SPDX-License-Identifier: BSD-3-Clause
"""The system `simulated`: no node, no MPI. A launch is predicted by a model (workloads/simulated) and says so."""

from __future__ import annotations

import contextlib
from pathlib import Path

from harness.base import simulation
from harness.base.errors import Failure
from harness.setup import build, packages


def supported() -> str | None:
    """None, or the sentence why nothing can be simulated here. Installs what is missing where it may."""
    try:
        packages.ensure("build", "simulator")
    except Failure as error:
        return f"the simulator needs SimGrid. {error}"
    return None


def set_up(programs: list[str]) -> None:
    """Have the simulator built, and beside it what a check looks for: the names of engine and workloads."""
    build.build_simulator()
    for name in ("progress-run", *programs):
        with contextlib.suppress(FileExistsError):
            (simulation.BIN / name).symlink_to(simulation.PROGRAM.name)


def network(model: Path) -> str:
    """What the records say of the network."""
    return f"simulated: the model {model.name}, {simulation.hosts(model)} hosts, bandwidth shared by SimGrid"
