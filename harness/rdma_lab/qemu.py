# SPDX-License-Identifier: BSD-3-Clause
"""QEMU's command line for one of the two machines: emulated, without KVM, with a disk that keeps nothing.

Three networks: the host's (user mode, closed to everything but ssh from 127.0.0.1), control and data. The last two are
datagrams between two sockets in the file system: no ports, no order of starting, and a full one makes its sender wait.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.base import debian
from harness.rdma_lab.settings import NODES, Settings
from harness.rdma_lab.state import State

MTU = {"host": 1500, "ctl": 1500, "data": 9000}
CACHE_MB = 256  # of translated code
GUEST_ADDRESS, GUEST_PORT = "10.0.2.15", 22
APPEND = "console=ttyS0 quiet loglevel=4 mitigations=off tsc=reliable random.trust_cpu=on panic=-1"


@dataclass(frozen=True)
class Machine:
    """`sockets`: a folder with a short path, for what is there is a unix socket's; `port`: of ssh on 127.0.0.1."""

    index: int
    port: int
    sockets: Path

    @property
    def node(self) -> str:
        return NODES[self.index]


def escaped(path: Path | str) -> str:
    """As a value among QEMU's options, where a comma would end it."""
    return str(path).replace(",", ",,")


def share_tags(shares: dict[str, bool]) -> list[tuple[str, str, bool]]:
    """(tag, path, may the guests write) of each shared folder, an outer one before what is in it."""
    return [(f"share{index}", path, shares[path]) for index, path in enumerate(sorted(shares))]


def command(state: State, settings: Settings, machine: Machine) -> list[str]:
    """The whole command line."""
    number = machine.index + 1
    append = f"{APPEND} lab.node={number}" + (f" lab.rate={settings.rate}" if settings.rate else "")
    firmware = [state.host / "usr/share" / name for name in ("qemu", "seabios")]
    return [
        *debian.program(state.host, "usr/bin/qemu-system-x86_64"),
        *("-name", f"rdma-lab-{machine.node}", "-machine", "q35", "-accel", f"tcg,tb-size={CACHE_MB}", "-cpu", "max"),
        *("-smp", "1", "-m", str(settings.memory_mb), "-nodefaults", "-no-reboot", "-display", "none"),
        *("-serial", f"file:{escaped(state.console(machine.node))}"),
        *(word for folder in firmware for word in ("-L", str(folder))),
        *("-kernel", str(state.kernel()), "-initrd", str(state.initrd), "-append", append),
        *("-drive", f"file={escaped(state.image)},format=raw,if=virtio,snapshot=on"),
        *_shared("lab", state.shown, writable=False),
        *(word for tag, path, how in share_tags(settings.shares) for word in _shared(tag, path, how)),
        *_networks(machine),
        *("-device", "virtio-rng-pci"),
    ]


def _shared(tag: str, path: Path | str, writable: bool) -> list[str]:
    how = "" if writable else ",readonly=on"
    return ["-virtfs", f"local,path={escaped(path)},mount_tag={tag},security_model=none,multidevs=remap{how}"]


def _networks(machine: Machine) -> Sequence[str]:
    number, peer = machine.index + 1, 2 - machine.index
    forwarded = f"hostfwd=tcp:127.0.0.1:{machine.port}-{GUEST_ADDRESS}:{GUEST_PORT}"
    words = ["-netdev", f"user,id=host,net=10.0.2.0/24,restrict=on,{forwarded}"]
    for name in ("ctl", "data"):
        ends = (f"{end}.type=unix,{end}.path={escaped(machine.sockets / f'{name}{which}')}"
                for end, which in (("local", number), ("remote", peer)))  # fmt: skip
        words += ["-netdev", f"dgram,id={name},{','.join(ends)}"]
    for index, (name, mtu) in enumerate(MTU.items()):
        card = f"virtio-net-pci,netdev={name},mac=52:54:00:00:0{index}:0{number},romfile=,host_mtu={mtu}"
        words += ["-device", card]
    return words


def environment(state: State) -> dict[str, str]:
    """QEMU's modules are where its package put them, and the snapshot of its disk beside the image."""
    return {
        "QEMU_MODULE_DIR": str(state.host / debian.LIBRARIES / "qemu"),
        "TMPDIR": str(state.vm),
        "PATH": "/usr/bin:/bin",
        "LC_ALL": "C.UTF-8",
    }
