# SPDX-License-Identifier: BSD-3-Clause
"""./bench smpi: a real workload in simulated time."""

from __future__ import annotations

from typing import Annotated

import typer

from harness.base import process, simulation
from harness.setup import build
from harness.sites import simulated as site

Command = Annotated[
    list[str], typer.Argument(metavar="-- WORKLOAD...", help="minighost or microbench, and its arguments.")
]


def smpi(
    command: Command, ranks: Annotated[int, typer.Option("-n", min=1, max=4096, help="How many ranks.")] = 2
) -> int:
    """Run a real workload on SimGrid's MPI, where all messages move at once: the best that progress could reach.

    Its record is on standard output, and says that it is simulated. The platform is that of OVERLAP_BENCH_MODEL. What
    is computed takes no time there, so that it must be slept.

    Example: ./bench smpi -n 8 -- minighost exchange --point size_bytes=1048576,work_units=51000,compute=sleep
    """
    with site.launch_line(simulation.folder(), ranks, command) as line:
        build.build_smpi(command[:1])
        return process.attended(line)
