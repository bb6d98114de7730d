# SPDX-License-Identifier: BSD-3-Clause
"""The Linux system calls that the standard library lacks before Python 3.12: namespaces and mounts.

All functions raise OSError with the failing call in its text. Not thread safe: they change the calling process.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000
NODE_NAMESPACES = CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWPID | CLONE_NEWNET

MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 0x40000
MS_NOSUID, MS_NODEV, MS_NOEXEC = 2, 4, 8

_MNT_DETACH = 2
_PR_SET_NAME = 15
_CAP_NET_ADMIN, _CAP_SYS_ADMIN = 12, 21

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, call: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{call}: {os.strerror(number)}")


def unshare(flags: int) -> None:
    """Leave the namespaces in `flags`; a new PID namespace is for the children only."""
    _check(_libc.unshare(flags), "unshare")


def enter_network(namespace_fd: int) -> None:
    """Enter the network namespace that an open /proc/PID/ns/net refers to."""
    _check(_libc.setns(namespace_fd, CLONE_NEWNET), "setns")


def mount(source: str, target: str | Path, kind: str = "", flags: int = 0, options: str = "") -> None:
    """mount(2); `kind` is the file system's type, empty for bind mounts and changes of propagation."""
    result = _libc.mount(
        source.encode(), os.fsencode(target), kind.encode() or None, ctypes.c_ulong(flags), options.encode() or None
    )
    _check(result, f"mount {kind or source} on {target}")


def set_name(name: str) -> None:
    """The name that ps shows for this process (15 bytes)."""
    _check(_libc.prctl(_PR_SET_NAME, name.encode()[:15], 0, 0, 0), "prctl")


def privileged() -> bool:
    """May this process make network and mount namespaces without a user namespace around them?"""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("CapEff:"):
            needed = 1 << _CAP_NET_ADMIN | 1 << _CAP_SYS_ADMIN
            return int(line.split()[1], 16) & needed == needed
    return False


def enter_user_namespace(uid: int, gid: int) -> None:
    """Enter a new user namespace, user_namespaces(7), in which the caller is `uid`:`gid` and has all capabilities."""
    outside_uid, outside_gid = os.geteuid(), os.getegid()
    unshare(CLONE_NEWUSER)
    # Without privilege a group map may be written only where setgroups is given up.
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{uid} {outside_uid} 1")
    Path("/proc/self/gid_map").write_text(f"{gid} {outside_gid} 1")


def enter_namespaces() -> None:
    """Enter all namespaces of a node; the next child becomes the first process of the PID namespace."""
    unshare(NODE_NAMESPACES)
    mount("none", "/", flags=MS_REC | MS_PRIVATE)


def mount_proc_and_sys() -> None:
    """Fresh /proc and /sys, which show the caller's own PID and network namespaces; the cgroup tree stays in place."""
    mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    cgroups, parking = Path("/sys/fs/cgroup"), "/mnt"
    kept = cgroups.is_dir() and Path(parking).is_dir()
    if kept:
        mount(str(cgroups), parking, flags=MS_BIND | MS_REC)
    mount("sysfs", "/sys", "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    if kept:
        mount(parking, cgroups, flags=MS_BIND | MS_REC)
        _check(_libc.umount2(parking.encode(), _MNT_DETACH), "umount")
