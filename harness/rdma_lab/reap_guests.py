# SPDX-License-Identifier: BSD-3-Clause
"""Kills on both guests what has an environment variable: `python -m harness.rdma_lab.reap_guests NAME`."""

from __future__ import annotations

import sys

from harness.base.errors import Failure
from harness.rdma_lab import lab
from harness.rdma_lab.lab_settings import NODES


def main(arguments: list[str]) -> int:
    running = lab.load()
    if running is None:
        print("reap: no emulated machines are up", file=sys.stderr)
        return 1
    status = 0
    for node in NODES:
        try:
            print(f"reap: {running.reap(node, arguments[0])} processes killed on {node}")
        except Failure as error:
            print(f"reap: {error}", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
