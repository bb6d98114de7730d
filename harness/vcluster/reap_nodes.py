# SPDX-License-Identifier: BSD-3-Clause
"""Kills every process on the compute nodes that is not a node's own: `python -m harness.vcluster.reap_nodes`.

What a dead launch left there would disturb every launch after it.
"""

from __future__ import annotations

import sys

from harness.base.errors import Failure
from harness.vcluster import cluster


def main() -> int:
    running = cluster.load()
    if running is None:
        print("reap: no virtual cluster is up", file=sys.stderr)
        return 1
    status = 0
    for node in running.hosts:
        try:
            print(f"reap: {running.reap(node)} processes killed on {node}")
        except Failure as error:  # a node that is down has nothing left to kill
            print(f"reap: {error}", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
