# SPDX-License-Identifier: BSD-3-Clause
"""The directory of the cluster of this checkout and user: settings, sockets, logs, executables, mount points."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from harness.base.errors import UsageError

VARIABLE = "OVERLAP_BENCH_STATE"
# A unix socket's path has 107 bytes, and MPIs and Slurm put theirs deep into the nodes' TMPDIR, which is below.
LONGEST = 50
_OURS = ("cluster.json*", "line*", "nodes.json", "hosts", "resolv.conf", "exec", "rsh", "*.sock", "log", "tmp", "slurm")
_ROOT = Path(__file__).resolve().parents[2]
_CHECKOUT = hashlib.sha256(str(_ROOT).encode()).hexdigest()[:8]


def directory() -> Path:
    """Where the cluster's files are, whether it exists or not; OVERLAP_BENCH_STATE overrides the default."""
    path = Path(os.environ.get(VARIABLE) or f"/tmp/overlap-bench-{os.geteuid()}/{_CHECKOUT}")
    if not path.is_absolute() or len(os.fsencode(path)) > LONGEST:
        raise UsageError(
            f"{VARIABLE}={path} must be an absolute path of at most {LONGEST} bytes, because unix sockets are below it"
        )
    return path


@contextlib.contextmanager
def locked(path: Path) -> Iterator[int]:
    """Hold the lock on the parent of `path`, which is made for this user alone; gives the lock's descriptor."""
    parent = path.parent
    try:
        parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(parent, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise UsageError(f"the virtual cluster's directory {parent} cannot be used: {error.strerror}") from error
    try:
        _check_owner(parent, os.fstat(descriptor))
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)


def _check_owner(parent: Path, status: os.stat_result) -> None:
    if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & (stat.S_IWGRP | stat.S_IWOTH):
        raise UsageError(
            f"{parent} must belong to you and be writable by nobody else; set {VARIABLE} to a path whose parent is so"
        )
    if os.statvfs(parent).f_flag & os.ST_NOEXEC:
        raise UsageError(f"{parent} is mounted noexec; set {VARIABLE} to a place where programs may be")


def make_empty(path: Path) -> None:
    """A fresh directory in the place of what an earlier cluster left. The lock must be held."""
    remove(path)
    path.mkdir(mode=0o700)
    for name in ("log", "tmp"):
        (path / name).mkdir()


def remove(path: Path) -> None:
    """Remove the cluster's files; raises UsageError when the directory holds something else or cannot be removed."""
    if not path.exists():
        return
    others = [entry.name for entry in path.iterdir() if not any(entry.match(pattern) for pattern in _OURS)]
    if others:
        raise UsageError(
            f"{path} is not a virtual cluster's directory: it holds {others[0]}; set {VARIABLE} to another"
        )
    try:
        shutil.rmtree(path)
    except OSError as error:
        raise UsageError(f"the virtual cluster's directory {path} cannot be removed: {error.strerror}") from error
