# SPDX-License-Identifier: BSD-3-Clause
"""SMPI, SimGrid's MPI in simulated time: the real workloads on a model's platform, without the rest of the model.

Every message moves at once there, whatever the program does: the best that any progress could reach.
"""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.base.errors import UsageError
from harness.base.paths import BUILD_DIR
from harness.simulated import model_folder

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
    hosts = model_folder.host_names(model)
    if program not in PROGRAMS:
        raise UsageError(f"{program}: {' or '.join(PROGRAMS)} is wanted, whose computation can be slept.")
    if ranks > len(hosts):
        raise UsageError(f"-n {ranks}: the platform of {model.name} has {len(hosts)} hosts, and a rank takes one.")
    if split := [word for word in arguments if len(word.split()) != 1]:
        raise UsageError(f"'{split[0]}': smpirun takes no word with a blank in it.")
    files = {name: digest for name, digest in model_folder.files(model).items() if name == model_folder.PLATFORM}
    with tempfile.TemporaryDirectory(prefix="overlap-bench-") as name:
        hostfile, context = Path(name) / "hosts", Path(name) / "context.json"
        hostfile.write_text("".join(f"{host}\n" for host in hosts[:ranks]))
        context.write_text(json.dumps({"simulated": {"platform": model_folder.PLATFORM, "files": files}}))
        where = ["-np", str(ranks), "-platform", str(model / model_folder.PLATFORM), "-hostfile", str(hostfile)]
        known = [] if not arguments or arguments[0].startswith("-") else [f"--context={context}"]  # of a benchmark
        yield ["smpirun", "-quiet", *where, *OPTIONS, str(BIN / program), *arguments, *known]
