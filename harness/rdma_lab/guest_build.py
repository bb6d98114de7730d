# SPDX-License-Identifier: BSD-3-Clause
"""The engine and the workloads for the guests' MPIs: compiled at full speed on this machine, within the guests' root.

So they get the guests' own compiler, libraries and MPIs, whatever this machine has of its own. Source and build folders
have the same paths there.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from harness.base import process
from harness.base.errors import Failure
from harness.base.paths import ROOT
from harness.base.process import run_step, setup_lock
from harness.rdma_lab import lab
from harness.rdma_lab.lab_folder import State, bin_dir, state

LIMIT_S = 60.0
ENVIRONMENT = ("PATH=/usr/sbin:/usr/bin", "HOME=/root", "LC_ALL=C.UTF-8")
WITHIN = """
root=$1 source=$2 build=$3; shift 3
mount --rbind /dev "$root/dev"
mount --rbind /proc "$root/proc"
mount --bind "$source" "$root$source"
mount -o remount,bind,ro "$root$source"
mount --bind "$build" "$root$build"
exec chroot "$root" env -i "$@"
"""


def within(where: State, build: str, command: Sequence[str]) -> list[str]:
    """The command line that runs `command` in the guests' root; needs root, or user namespaces."""
    rights = [] if os.geteuid() == 0 else ["--map-root-user"]
    unshare = ["unshare", "--mount", *rights, "sh", "-ec", WITHIN, "sh"]
    return [*unshare, str(where.guest), str(ROOT), build, *ENVIRONMENT, *command]


def ensure(mpi: str, *targets: str) -> None:
    """Have these targets (none: all) built for an MPI of the guests, by its preset in CMakePresets.json."""
    where = state()
    lab.ensure(where)
    build = bin_dir(mpi).parent
    build.mkdir(parents=True, exist_ok=True)
    for path in (ROOT, build):
        (where.guest / str(path).lstrip("/")).mkdir(parents=True, exist_ok=True)
    with setup_lock():
        ninja = ["ninja", "-C", str(build)]
        if not (build / "build.ninja").exists():
            if reason := process.answer(within(where, str(build), ["true"]), LIMIT_S).err:
                raise Failure(f"Nothing can be built in the guests' root: {reason.strip().splitlines()[-1]}.")
            configure = ["cmake", "-S", str(ROOT), "-B", str(build), "--preset", mpi]
            run_step(f"configuring for {mpi} of the guests", within(where, str(build), configure), None, 10)
        look = process.answer(within(where, str(build), [*ninja, "-n", *targets]), LIMIT_S)
        if look.status != 0 or "no work to do" not in look.out:
            run_step(f"building for {mpi} of the guests", within(where, str(build), [*ninja, *targets]), None, 120)
