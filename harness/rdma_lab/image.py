# SPDX-License-Identifier: BSD-3-Clause
"""What the guests boot from, made without root: an initrd with the modules, and an ext4 image of the guests' root.

And the keys with which this machine gets in and the guests get to each other; they are in no image.
"""

from __future__ import annotations

import hashlib
import lzma
import os
import re
import shutil
import time
from pathlib import Path

from harness.base import debian, process
from harness.base.errors import Failure
from harness.base.process import has_stamp, say, write_stamp
from harness.rdma_lab import fetch
from harness.rdma_lab.lab_folder import State
from harness.rdma_lab.lab_settings import MODULES

GUEST_FILES = Path(__file__).resolve().parent / "guest"
HOST_ALIAS = "rdma-lab"  # one host key for both guests
LIMIT_S = 600.0
ROOM_MB = 200


def done(state: State) -> bool:
    """Are image, initrd and keys there, made of what has been fetched?"""
    there = state.image.exists() and state.initrd.exists() and state.keys.is_dir()
    return there and has_stamp(_stamp(state), _asked(state))


def ensure(state: State) -> None:
    """Have image, initrd and keys, of what has been fetched."""
    if done(state):
        return
    _stamp(state).unlink(missing_ok=True)  # half of it must not be taken for all, should this be interrupted
    say("making the emulated machines' image (about 15 s) ...")
    started = time.monotonic()
    _make_keys(state)
    count = _make_initrd(state)
    _make_image(state)
    write_stamp(_stamp(state), _asked(state))
    size = state.image.stat().st_blocks * 512 // 10**6
    say(f"image of {size} MB and {count} modules: done in {time.monotonic() - started:.0f} s")


def _stamp(state: State) -> Path:
    return state.folder / "image.stamp"


def _asked(state: State) -> str:
    roots = (state.guest, state.host)
    parts = [file(root).read_bytes() for root in roots for file in (fetch.stamp, fetch.files_of)]
    parts += [Path(__file__).read_bytes(), (GUEST_FILES / "initrd-init").read_bytes(), " ".join(MODULES).encode()]
    return hashlib.sha256(b"".join(parts)).hexdigest()


def load_order(dependencies: str, modules: tuple[str, ...] | list[str], builtin: str = "") -> list[str]:
    """The files to load, each after what it needs. `dependencies`: modules.dep, which names a module's own needs in the
    reverse order of loading. Failure where there is no such module."""
    lines = [line.partition(":") for line in dependencies.splitlines() if ":" in line]
    files = {_name(own): (own, needs.split()) for own, _, needs in lines}
    built_in = {_name(path) for path in builtin.split()}
    order: dict[str, None] = {}
    for module in modules:
        if module.replace("-", "_") in built_in:
            continue
        if module not in files:
            raise Failure(f"Debian's kernel has no module {module} any more")
        own, needs = files[module]
        order |= dict.fromkeys([*reversed(needs), own])
    return list(order)


def _name(path: str) -> str:
    return re.sub(r"\.ko(\.\w+)?$", "", Path(path).name).replace("-", "_")


def _make_initrd(state: State) -> int:
    """Busybox and the modules; these not compressed, since xz is slow in emulation."""
    modules = state.host / "usr/lib/modules" / state.kernel_version()
    if not (modules / "modules.dep").exists():
        _do([*debian.program(state.guest, "usr/sbin/depmod"), "-b", str(state.host), state.kernel_version()])
    order = load_order((modules / "modules.dep").read_text(), MODULES, (modules / "modules.builtin").read_text())
    work = state.folder / "initrd"
    shutil.rmtree(work, ignore_errors=True)
    for name in ("bin", "dev", "proc", "sys", "root", "modules"):
        (work / name).mkdir(parents=True)
    for file in order:
        plain = work / "modules" / f"{_name(file)}.ko"
        if file.endswith(".xz"):
            plain.write_bytes(lzma.decompress((modules / file).read_bytes()))
        else:
            shutil.copy(modules / file, plain)
    (work / "modules" / "order").write_text("".join(f"{_name(file)}.ko\n" for file in order))
    shutil.copy(state.guest / "usr/bin/busybox", work / "bin/busybox")
    shutil.copy(GUEST_FILES / "initrd-init", work / "init")
    (work / "init").chmod(0o755)
    _do(["sh", "-c", 'find . | bin/busybox cpio -o -H newc > "$1"', "sh", str(state.initrd)], work)
    shutil.rmtree(work)
    return len(order)


def _make_image(state: State) -> None:
    used = sum(path.lstat().st_blocks * 512 for path in state.guest.rglob("*"))
    size = used * 12 // 10 // 2**20 + ROOM_MB
    state.image.unlink(missing_ok=True)
    how = ["-q", "-F", "-t", "ext4", "-O", "^has_journal", "-m", "0", "-E", "root_owner=0:0"]
    config = {"MKE2FS_CONFIG": str(state.guest / "etc/mke2fs.conf")}
    mke2fs = debian.program(state.guest, "usr/sbin/mke2fs")
    _do([*mke2fs, *how, "-d", str(state.guest), str(state.image), f"{size}M"], environment=config)


def _make_keys(state: State) -> None:
    shutil.rmtree(state.keys, ignore_errors=True)
    state.keys.mkdir(mode=0o700)
    for name in ("id", "host"):
        keygen = debian.program(state.guest, "usr/bin/ssh-keygen")
        _do([*keygen, "-q", "-t", "ed25519", "-N", "", "-C", HOST_ALIAS, "-f", str(state.keys / name)])
    host_key = (state.keys / "host.pub").read_text()
    (state.keys / "known_hosts").write_text(f"{HOST_ALIAS} {host_key}")


def _do(command: list[str], folder: Path | None = None, environment: dict[str, str] | None = None) -> None:
    done = process.answer(command, LIMIT_S, dict(os.environ) | (environment or {}), cwd=folder, merged=True)
    if done.status != 0:
        raise Failure(f"the emulated machines' image cannot be made: {done.last_line}")
