# SPDX-License-Identifier: BSD-3-Clause
"""A virtual cluster: several nodes on one machine, each a set of Linux namespaces under one small init.

    cluster.py    the interface: up, down, load, status, execute, link, set_rate
    support.py    can this machine do it; one sentence if not
    switch.py     the cluster's own init: makes the namespaces and the network, starts the nodes
    node.py       what makes a node: mounts, hostname, CPUs, user
    init.py       the service loop of both: collects orphans, runs commands sent over a unix socket
    client.py     the other end: `exec` and the ssh stand-in `rsh`, a file that runs alone
    network.py    bridge, veth and MTU as lines for `ip -batch`
    line.py       what a rate means for limiter and packets, as lines for `tc -batch` and `ip -batch`
    line_meter.py what the line really lets pass
    linux.py      the few system calls that Python 3.10 lacks
    slurm.py      a real Slurm on the nodes

Processes, mounts and interfaces hang under one PID namespace: killing its first process removes all of it.
"""
