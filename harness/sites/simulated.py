# SPDX-License-Identifier: BSD-3-Clause
"""The system `simulated`: no node, no MPI. A launch is predicted by a model (simulator) and says so."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from harness.base.errors import Failure, UsageError
from harness.setup import build, environment
from harness.simulated import model_file, model_folder
from harness.sites.systems import SYSTEMS_DIR, Opened, System


def supported() -> str | None:
    """None, or the sentence why nothing can be simulated here. Installs what is missing where it may."""
    try:
        environment.ensure_packages("build", "all targets", "simulator")
    except Failure as error:
        return f"the simulator needs SimGrid. {error}"
    return None


def set_up(programs: list[str]) -> None:
    """Have the simulator built, and beside it what a check looks for: the names of engine and workloads."""
    build.build_simulator()
    for name in ("progress-run", *programs):
        with contextlib.suppress(FileExistsError):
            (model_folder.BIN / name).symlink_to(model_folder.PROGRAM.name)


def network(model: Path) -> str:
    """What the records say of the network."""
    return f"simulated: the model {model.name}, {model_folder.hosts(model)} hosts, bandwidth shared by SimGrid"


class _Simulated(System):
    """No MPI, and no engine: the simulator, by the names of what it stands for."""

    def set_up(self, programs: Mapping[str, Sequence[str]], offload: bool = True) -> None:  # noqa: ARG002
        set_up(sorted({program for some in programs.values() for program in some}))


@contextlib.contextmanager
def _open_simulated(_nodes: int) -> Iterator[Opened]:
    model = model_folder.folder()
    for mpi in model_folder.mpis(model):
        model_file.read(model / f"{mpi}.json")
    yield Opened(login=list, network=network(model), note=f"predicted by the model in {model}")


def _simulated_programs() -> dict[str, Path]:
    """The MPIs of the model that is asked for. A wrong name is told when the system is used, not before."""
    with contextlib.suppress(UsageError):
        return {name: model_folder.BIN for name in model_folder.mpis(model_folder.folder())}
    return {}


SYSTEMS = {
    "simulated": _Simulated(
        name="simulated",
        config=SYSTEMS_DIR / "simulated.py",
        open=_open_simulated,
        why_not=supported,
        exclusive=False,
        stays=lambda: True,
        programs=_simulated_programs(),
        model=lambda: model_folder.files(model_folder.folder()),
    )
}
