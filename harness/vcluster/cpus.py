# SPDX-License-Identifier: BSD-3-Clause
"""Which CPUs each node gets: all nodes' shares are disjoint and made of whole cores where the machine has enough."""

from __future__ import annotations

from harness.base.machine import available_cores


def split(nodes: int, cores: list[list[int]] | None = None) -> dict[str, list[int]]:
    """Node -> CPU numbers: the login node vc0 has all, each compute node its share.

    Fewer cores than nodes: hardware threads of one core go to different nodes; fewer of those, too: nodes share.
    """
    cores = available_cores() if cores is None else cores
    everything = [cpu for core in cores for cpu in core]
    if len(cores) < nodes:
        cores = [[cpu] for cpu in everything]
    shares = {"vc0": sorted(everything)}
    for node in range(nodes):
        if len(cores) < nodes:
            mine = [cores[node % len(cores)]]
        else:
            mine = cores[node * len(cores) // nodes : (node + 1) * len(cores) // nodes]
        shares[f"vc{node + 1}"] = sorted(cpu for core in mine for cpu in core)
    return shares
