# SPDX-License-Identifier: BSD-3-Clause
"""Runs a command on the first guest from a job on this machine: `python -m harness.rdma_lab.attend CMD...`.

Of this environment the guest gets what is an MPI's, UCX's, the engine's or a launch's. This machine's Python is the
guest's own there. When this process ends, the command does.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

from harness.base import process
from harness.rdma_lab import lab
from harness.rdma_lab.lab_settings import NODES

PASSED_ON = ("MPIR_", "MPICH_", "OMPI_", "PMIX_", "PRTE_", "HYDRA_", "UCX_", "PROGRESS_ENGINE_", "OVERLAP_BENCH_LAUNCH")
GUEST_PYTHON = "/usr/bin/python3"
GONE = 255  # ssh's status for it


def passed_on(environment: Mapping[str, str]) -> dict[str, str]:
    """What the guest gets of an environment."""
    return {name: value for name, value in environment.items() if name.startswith(PASSED_ON)}


def translated(argv: Sequence[str], python: str = sys.executable) -> list[str]:
    """The command as the guest has it."""
    return [GUEST_PYTHON if word == python else word for word in argv]


def hold_stdin() -> None:
    """A stdin that ends with this process and not before: by that the guest sees that nobody waits any more.

    This process holds the writing end, and not ssh, which closes what it has inherited.
    """
    read_end, _ = os.pipe()
    os.dup2(read_end, 0)
    os.close(read_end)


def main(arguments: list[str]) -> int:
    running = lab.load()
    if running is None:
        print("rdma-lab: no emulated machines are up", file=sys.stderr)
        return GONE
    command = running.command(NODES[0], translated(arguments), passed_on(os.environ), attended=True)
    hold_stdin()
    status = process.attended(command)
    return 128 - status if status < 0 else status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
