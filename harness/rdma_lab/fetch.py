# SPDX-License-Identifier: BSD-3-Clause
"""The guests' system and QEMU, as Debian's packages, unpacked below the state folder: 300 MB to download.

No maintainer script runs. What theirs would have done and the guests need is done here.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.base import debian
from harness.base.debian import Release
from harness.base.process import has_stamp, say, write_stamp
from harness.rdma_lab.lab_folder import State
from harness.rdma_lab.lab_settings import GUEST_PACKAGES, GUEST_RELEASE, HOST_PACKAGES, HOST_RELEASE

LINKS = {  # of alternatives and ldconfig
    "usr/bin/awk": "gawk",
    "usr/bin/cc": "gcc",
    "usr/bin/c++": "g++",
    "usr/bin/mpirun": "mpirun.openmpi",
    "usr/bin/mpiexec": "mpiexec.mpich",
}
FOLDERS = ("proc", "sys", "dev", "run", "tmp", "lab", "root", "etc")
FINISHED = "2"  # counts what _finish does
ACCOUNTS = "sshd:*:100:65534::/run/sshd:/usr/sbin/nologin\n"


@dataclass(frozen=True)
class Job:
    """A folder and what is unpacked into it; `what` and `about_s` are for the user."""

    root: Path
    release: Release
    packages: tuple[str, ...]
    what: str
    about_s: int

    def done(self) -> bool:
        return has_stamp(stamp(self.root), stamp_text(self.release, self.packages)) and self.root.is_dir()


def jobs(state: State) -> tuple[Job, ...]:
    return (
        Job(state.guest, GUEST_RELEASE, GUEST_PACKAGES, "the emulated machines' system (190 MB", 25),
        Job(state.host, HOST_RELEASE, HOST_PACKAGES, "QEMU and their kernel (110 MB", 15),
    )


def done(state: State) -> bool:
    """Is nothing to be fetched any more?"""
    return all(job.done() for job in jobs(state))


def ensure(state: State) -> None:
    """Have both; says how long that takes. Failure with a sentence where Debian cannot be reached."""
    for job in jobs(state):
        if job.done():
            continue
        say(f"fetching {job.what} to download, into {job.root}; about {job.about_s} s) ...")
        started = time.monotonic()
        stamp(job.root).unlink(missing_ok=True)  # what is there before _finish is not whole
        files = debian.unpack(job.release, job.packages, state.cache, job.root)
        if job.root == state.guest:
            _finish(job.root)
        files_of(job.root).write_text("\n".join(files) + "\n")
        write_stamp(stamp(job.root), stamp_text(job.release, job.packages))
        say(f"fetched {len(files)} packages in {time.monotonic() - started:.0f} s")


def stamp(root: Path) -> Path:
    return root.with_name(f"{root.name}.stamp")


def files_of(root: Path) -> Path:
    """Which packages' files a folder was made of, with their versions."""
    return root.with_name(f"{root.name}.packages")


def stamp_text(release: Release, packages: Sequence[str]) -> str:
    """What a folder must have been made of to be taken for done: another list is not it."""
    return "\n".join([FINISHED, *release.lines(), release.preferred, *packages])


def versions(state: State, packages: Sequence[str]) -> dict[str, str]:
    """The version of each of these packages, as Debian has numbered it."""
    found = {}
    for root in (state.guest, state.host):
        for name in files_of(root).read_text().split():
            package, version, _ = name.split("_")
            if package in packages:
                found[package] = version.replace("%3a", ":")
    return found


def _finish(root: Path) -> None:
    master = root / "usr/share/base-passwd"
    accounts = (master / "passwd.master").read_text().replace("root:*:", "root:x:", 1)
    (root / "etc/passwd").write_text(accounts + ACCOUNTS)
    (root / "etc/group").write_text((master / "group.master").read_text())
    (root / "etc/shadow").write_text("root:*:19000:0:99999:7:::\n")
    for name, target in LINKS.items():
        link = root / name
        link.unlink(missing_ok=True)
        link.symlink_to(target)
    libraries = root / debian.LIBRARIES
    for real in (root / "usr/lib/libpsm1").glob("libpsm_infinipath.so.1.*"):  # libfabric wants it, by an alternative
        (libraries / "libpsm_infinipath.so.1").symlink_to(f"/usr/lib/libpsm1/{real.name}")
    for name in FOLDERS:
        (root / name).mkdir(exist_ok=True)
