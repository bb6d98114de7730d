# SPDX-License-Identifier: BSD-3-Clause
"""The system `simulated`: no node, no MPI. A launch is predicted by a model (simulator) and says so."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from harness.base import simulation
from harness.base.errors import Failure, UsageError
from harness.base.paths import BUILD_DIR
from harness.setup import build, environment
from harness.sites import model_file
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
            (simulation.BIN / name).symlink_to(simulation.PROGRAM.name)


def network(model: Path) -> str:
    """What the records say of the network."""
    return f"simulated: the model {model.name}, {simulation.hosts(model)} hosts, bandwidth shared by SimGrid"


class _Simulated(System):
    """No MPI, and no engine: the simulator, by the names of what it stands for."""

    def set_up(self, programs: Mapping[str, Sequence[str]], offload: bool = True) -> None:  # noqa: ARG002
        set_up(sorted({program for some in programs.values() for program in some}))


@contextlib.contextmanager
def _open_simulated(_nodes: int) -> Iterator[Opened]:
    model = simulation.folder()
    for mpi in simulation.mpis(model):
        model_file.read(model / f"{mpi}.json")
    yield Opened(login=list, network=network(model), note=f"predicted by the model in {model}")


def _simulated_programs() -> dict[str, Path]:
    """The MPIs of the model that is asked for. A wrong name is told when the system is used, not before."""
    with contextlib.suppress(UsageError):
        return {name: simulation.BIN for name in simulation.mpis(simulation.folder())}
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
        model=lambda: simulation.files(simulation.folder()),
    )
}


# SMPI, SimGrid's MPI in simulated time: the real workloads on a model's platform, without the rest of the model.
#
# Every message moves at once there, whatever the program does: the best that any progress could reach.

PROGRAMS = ("microbench", "minighost")  # the others compute, and cannot sleep in its place
BIN = BUILD_DIR / "smpi" / "bin"

# The network is that of simulator/src/network.cpp. A message takes no time of the program and neither does what
# the program computes; a barrier has the rounds of MPICH's, as the simulator's has.
OPTIONS = (
    "--cfg=network/model:CM02",
    "--cfg=network/crosstraffic:0",
    "--cfg=network/bandwidth-factor:1",
    "--cfg=network/latency-factor:1",
    "--cfg=network/TCP-gamma:0",
    "--cfg=surf/precision:1e-12",
    "--cfg=smpi/simulate-computation:no",
    "--cfg=smpi/host-speed:1Gf",
    "--cfg=smpi/test:0",
    "--cfg=smpi/wtime:0",
    "--cfg=smpi/coll-selector:mpich",
    "--log=root.thres:critical",
)


@contextlib.contextmanager
def launch_line(model: Path, ranks: int, command: Sequence[str]) -> Iterator[list[str]]:
    """What starts this workload on so many hosts of the model's platform; valid while the body runs."""
    program, *arguments = command
    hosts = simulation.host_names(model)
    if program not in PROGRAMS:
        raise UsageError(f"{program}: {' or '.join(PROGRAMS)} is wanted, whose computation can be slept.")
    if ranks > len(hosts):
        raise UsageError(f"-n {ranks}: the platform of {model.name} has {len(hosts)} hosts, and a rank takes one.")
    if split := [word for word in arguments if len(word.split()) != 1]:
        raise UsageError(f"'{split[0]}': smpirun takes no word with a blank in it.")
    files = {name: digest for name, digest in simulation.files(model).items() if name == simulation.PLATFORM}
    with tempfile.TemporaryDirectory(prefix="overlap-bench-") as name:
        hostfile, context = Path(name) / "hosts", Path(name) / "context.json"
        hostfile.write_text("".join(f"{host}\n" for host in hosts[:ranks]))
        context.write_text(json.dumps({"simulated": {"platform": simulation.PLATFORM, "files": files}}))
        where = ["-np", str(ranks), "-platform", str(model / simulation.PLATFORM), "-hostfile", str(hostfile)]
        known = [] if not arguments or arguments[0].startswith("-") else [f"--context={context}"]  # of a benchmark
        yield ["smpirun", "-quiet", *where, *OPTIONS, str(BIN / program), *arguments, *known]
