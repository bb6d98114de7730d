# SPDX-License-Identifier: BSD-3-Clause
"""The cluster's network: a bridge in a namespace of its own, one veth pair a node, a limiter at both ends (line.py).

Where it was asked for, a management network beside it, as real clusters have: a second bridge, which nothing limits. A
node's name there is NODE-mgmt. MPIs are kept off it by their own settings (`off_management`).

No interface, address or route exists outside of the cluster's namespaces, so nothing leaves the machine. This module
only makes the lines for `ip -batch` and `tc -batch`, and the words that describe the result.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from . import line, line_meter

SUBNET = "10.77.0"
BRIDGE = "br0"
INTERFACE = "eth0"
MANAGEMENT_SUBNET = "10.78.0"
MANAGEMENT_BRIDGE = "br1"
MANAGEMENT_INTERFACE = "eth1"
MANAGEMENT_SUFFIX = "-mgmt"
MANAGEMENT_MTU = 1500
# The host's congestion control may be BBR, which paces by its own estimate and makes shaped rates erratic; cubic
# cannot always be set in a child namespace. Reno always can.
CONGESTION_CONTROL = "reno"

SYSCTLS = {
    "ipv4/tcp_congestion_control": CONGESTION_CONTROL,
    "ipv4/tcp_syn_retries": "2",  # a connection to a dead node fails within seconds
    "ipv6/conf/all/disable_ipv6": "1",  # no chatter besides the measured traffic, and one address a node
    "ipv6/conf/default/disable_ipv6": "1",
}


def address(index: int, subnet: str = SUBNET) -> str:
    """Of node `index`; 0 is the login node."""
    return f"{subnet}.{index or 254}"


def port(index: int) -> str:
    """The switch's end of node `index`'s cable."""
    return f"port{index}"


def hosts_file(names: Iterable[str], *, management: bool) -> str:
    """/etc/hosts of every node."""
    names = list(names)
    lines = [f"{address(index)} {name}" for index, name in enumerate(names)]
    if management:
        lines += [f"{address(at, MANAGEMENT_SUBNET)} {name}{MANAGEMENT_SUFFIX}" for at, name in enumerate(names)]
    return "\n".join(["127.0.0.1 localhost", *lines, ""])


def switch_lines(node_pids: list[int], mtu: int, *, management: bool = False) -> list[str]:
    """For `ip -batch` in the switch: the bridge, and for each node a cable into its namespace."""
    lines = _bridge_lines(BRIDGE, [port(index) for index in range(len(node_pids))], INTERFACE, node_pids, mtu)
    if management:
        ports = [f"mgmt{index}" for index in range(len(node_pids))]
        lines += _bridge_lines(MANAGEMENT_BRIDGE, ports, MANAGEMENT_INTERFACE, node_pids, MANAGEMENT_MTU)
    return lines


def _bridge_lines(bridge: str, ports: list[str], interface: str, node_pids: list[int], mtu: int) -> list[str]:
    lines = [f"link add {bridge} mtu {mtu} type bridge stp_state 0 forward_delay 0 mcast_snooping 0"]
    for name, pid in zip(ports, node_pids, strict=True):
        lines += [
            f"link add {name} mtu {mtu} type veth peer name {interface} mtu {mtu} netns {pid}",
            f"link set {name} master {bridge} up",
        ]
    return [*lines, f"link set {bridge} up"]


def node_lines(index: int, *, management: bool = False) -> list[str]:
    """For `ip -batch` in node `index`."""
    lines = ["link set lo up", f"addr add {address(index)}/24 dev {INTERFACE}", f"link set {INTERFACE} up"]
    if management:
        lines += [
            f"addr add {address(index, MANAGEMENT_SUBNET)}/24 dev {MANAGEMENT_INTERFACE}",
            f"link set {MANAGEMENT_INTERFACE} up",
        ]
    return lines


def off_management() -> dict[str, str]:
    """Variables for every command on a node that has both networks: messages take the limited one."""
    return {
        "FI_TCP_IFACE": INTERFACE,  # libfabric: MPICH, Intel MPI
        "OMPI_MCA_btl_tcp_if_include": INTERFACE,
        "UCX_NET_DEVICES": INTERFACE,
    }


def set_sysctls() -> None:
    """For the network namespace of the caller, whose /proc must be its own. What a kernel lacks is left out."""
    for name, value in SYSCTLS.items():
        path = Path("/proc/sys/net", name)
        if path.exists():
            path.write_text(value)


PROBE = f"""
cd /sys/class/net/{INTERFACE} || exit 1
echo hostname $(hostname)
echo mtu $(cat mtu)
echo carrier $(cat carrier)
echo rx_bytes $(cat statistics/rx_bytes)
echo tx_bytes $(cat statistics/tx_bytes)
echo congestion_control $(cat /proc/sys/net/ipv4/tcp_congestion_control)
echo limiter $(tc class show dev {INTERFACE})
echo offload $(ip -d link show dev {INTERFACE} | grep -o 'gso_max_size [0-9]*' | grep -o '[0-9]*')
"""


_NUMBERS = ("mtu", "rx_bytes", "tx_bytes", "offload")


def parse_probe(output: str) -> dict[str, Any]:
    """What PROBE printed: hostname, mtu, link (up, down), rx_bytes, tx_bytes, congestion_control, limiter, packet (the
    longest that leaves at once, bytes)."""
    found: dict[str, Any] = {}
    for said in output.splitlines():
        key, _, value = said.partition(" ")
        found[key] = int(value or 0) if key in _NUMBERS else value
    found["link"] = "up" if found.pop("carrier", "0") == "1" else "down"
    found["packet"] = max(found.get("mtu", 0), found.pop("offload", 0) or line.LONGEST_OFFLOAD)
    return found


def measured_words(found: dict[str, float]) -> str:
    """What Cluster.measured() found, in words."""
    short, long, stream = (f"{found[name] / 1e9:.3g} Gb/s" for name in (*line_meter.MESSAGES, "stream_bits_per_s"))
    told = f"after a pause 32 KB at {short} and 64 KB at {long}, a stream at {stream}"
    if "ahead_bytes" not in found:
        return told
    return (
        f"{told}; after a pause up to {found['ahead_bytes']:.0f} bytes are ahead of the rate: htb lets a packet go "
        "before its time is over"
    )


def describe(status: dict[str, Any]) -> str:
    """The network of a status() in words, from what was read back from the nodes' kernels."""
    nodes = {name: node for name, node in status["nodes"].items() if name != status["login"]}
    running = [node for node in nodes.values() if node["up"]]
    if not running:
        return "virtual cluster, all nodes down"
    mtus, controls = (_distinct(str(node[key]) for node in running) for key in ("mtu", "congestion_control"))
    limits = _distinct(line.words(node["limiter"], node["packet"]) for node in running)
    cpus = ", ".join(f"{name}: {' '.join(map(str, node['cpus']))}" for name, node in nodes.items())
    shared = " (fewer CPUs than nodes: nodes share CPUs)" if status["shared_cpus"] else ""
    return (
        f"{len(nodes)} virtual nodes on one machine, {limits}, MTU {mtus}, TCP {controls}, a network namespace each, "
        f"veth pairs into one bridge, no added latency; CPUs {cpus}{shared}"
    )


def _distinct(values: Iterable[str]) -> str:
    return " or ".join(sorted(set(values)))
