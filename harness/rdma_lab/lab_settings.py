# SPDX-License-Identifier: BSD-3-Clause
"""What the emulated machines are asked to be, checked, and what the MPIs on them need to take the verbs."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path

from harness.base.debian import Release
from harness.base.errors import UsageError

NODES = ("lab1", "lab2")
# Debian 12 has Open MPI 4.1.4 and MPICH 4.0.2 over UCX 1.13.1; its own kernel and QEMU are too old for rdma_rxe in
# emulation, and the backports have 6.12 and 10.0.
SUITE = "bookworm"
SUITES = (SUITE, f"{SUITE}-updates", f"{SUITE}-backports")
SECURITY = (f"{SUITE}-security",)
GUEST_RELEASE = Release(SUITES, SECURITY)
HOST_RELEASE = Release(SUITES, SECURITY, preferred=f"{SUITE}-backports")


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


SYSTEM = _words(
    "base-files base-passwd bash coreutils dash diffutils findutils grep sed gawk hostname login mount util-linux "
    "libc-bin tar procps psmisc kmod iproute2 iputils-ping busybox-static e2fsprogs openssh-server openssh-client "
    "python3"
)
RDMA = _words("rdma-core ibverbs-utils ibverbs-providers perftest openmpi-bin libopenmpi3 libucx0 ucx-utils mpich")
COMPILERS = _words(
    "g++ make cmake ninja-build libopenmpi-dev libmpich-dev libibverbs-dev libucx-dev libcli11-dev libfmt-dev "
    "nlohmann-json3-dev libhwloc-dev libfftw3-dev"
)
GUEST_PACKAGES = (*SYSTEM, *RDMA, *COMPILERS)
HOST_PACKAGES = ("qemu-system-x86", "qemu-system-data", "seabios", "linux-image-amd64")
MODULES = _words(
    "crc32c_generic crc32_generic virtio_net virtio_blk virtio_rng ext4 9p 9pnet_virtio rdma_rxe ib_uverbs rdma_ucm "
    "ib_umad sch_htb"
)

DEVICE = "rxe0"
DATA_INTERFACE = "data0"
CONTROL_INTERFACE = "ctl0"
# Of every process on the guests. GID 0: UCX's UD, over which RC connects, drops rxe's packets with the IPv4 GID.
UCX = {"UCX_TLS": "rc,self", "UCX_NET_DEVICES": f"{DEVICE}:1", "UCX_IB_GID_INDEX": "0"}
# Open MPI's UCX layer wants mlx* devices unless it is told otherwise.
OPENMPI = {
    "OMPI_MCA_pml": "ucx",
    "OMPI_MCA_osc": "ucx",
    "OMPI_MCA_opal_common_ucx_devices": "any",
    "OMPI_MCA_opal_common_ucx_tls": "any",
    "OMPI_MCA_oob_tcp_if_include": CONTROL_INTERFACE,
}
MPIS = ("debian-mpich", "debian-openmpi")

BOOT_LIMIT_S = 300.0  # 15 s on an idle machine
LEAST_MEMORY_MB = 768
_RATE = re.compile(r"\d+(?:\.\d+)?[kmg]?bit")


@dataclass(frozen=True)
class Settings:
    """`rate`: of the data network, both ways; None: as fast as it goes. `shares`: folders of this machine that the
    guests have at the same path, and whether they may write there."""

    rate: str | None
    memory_mb: int
    shares: dict[str, bool]

    @classmethod
    def make(cls, rate: str | None, memory_mb: int, shares: dict[str, bool]) -> Settings:
        """Checked; raises UsageError."""
        if rate is not None and not (_RATE.fullmatch(rate) and re.search("[1-9]", rate)):  # tc has no rate of nothing
            raise UsageError(f"a rate is like 20mbit or 1.5mbit, not {rate!r}")
        if memory_mb < LEAST_MEMORY_MB:
            raise UsageError(f"an emulated machine needs {LEAST_MEMORY_MB} MB of memory at least, not {memory_mb}")
        if bad := next((path for path in shares if re.search(r"\s", path)), None):
            raise UsageError(f"the emulated machines cannot share {bad!r}: there is a space in it")
        return cls(rate, memory_mb, shares)

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self)))

    @classmethod
    def read(cls, path: Path) -> Settings:
        """Raises OSError, ValueError or TypeError where the file is not one of this version's."""
        return cls(**json.loads(path.read_text()))
