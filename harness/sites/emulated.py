# SPDX-License-Identifier: BSD-3-Clause
"""The RDMA laboratory as a system: two emulated machines."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence

from harness.base.errors import UsageError
from harness.rdma_lab import guest_build as lab_build
from harness.rdma_lab import lab
from harness.rdma_lab.lab_folder import bin_dir
from harness.rdma_lab.lab_settings import MPIS, NODES
from harness.setup import build
from harness.sites.systems import SYSTEMS_DIR, Opened, System


class _RdmaLab(System):
    """Debian's MPIs on the emulated machines, the engine and the workloads built for them in their own root."""

    def set_up(self, programs: Mapping[str, Sequence[str]], offload: bool = True) -> None:
        for name, some in programs.items():
            lab_build.ensure(name, *build.engine(offload), *some)


@contextlib.contextmanager
def _open_rdma_lab(nodes: int) -> Iterator[Opened]:
    """Use the emulated machines that are up, or boot them for as long as this process lives."""
    if nodes > len(NODES):
        raise UsageError(f"The RDMA laboratory has {len(NODES)} machines, not {nodes}.")
    with lab.open_() as running:
        yield Opened(
            login=list,  # the job runs here, and its launches there
            network=running.network_description,
            alive=running.healthy,
            note="" if running.created else "using the emulated machines that are already up",
        )


SYSTEMS = {
    "rdma-lab": _RdmaLab(
        name="rdma-lab",
        config=SYSTEMS_DIR / "rdma_lab.py",
        open=_open_rdma_lab,
        why_not=lab.supported,
        stays=lambda: lab.load() is not None,
        programs={name: bin_dir(name) for name in MPIS},
        emulated=True,
    )
}
