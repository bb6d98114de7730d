# SPDX-License-Identifier: BSD-3-Clause
"""Can this machine have a virtual cluster? Tried out in a process of its own, which takes all of it with it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from . import line, linux, network

_ROOT = Path(__file__).resolve().parents[2]
_LIMIT_S = 10.0

# Where the trial ended -> what to do about it.
ADVICE = {
    "user namespace": "allow user namespaces (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone=1, "
    "on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0), or be root",
    "namespaces": "allow user namespaces (on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0), or be root with "
    "CAP_SYS_ADMIN (in a container: --privileged, or without its seccomp filter)",
    "mounts": "a container that masks parts of /proc or /sys forbids this; start it with --privileged",
    "bridge and veth": "the kernel needs the modules bridge and veth",
    "limiter": "the kernel needs the module sch_htb",
}


def python(module: str, function: str) -> list[str]:
    """A command that runs one function of this package in an interpreter without site packages: 10 ms to start."""
    code = (
        f"import sys; sys.path.insert(0, {str(_ROOT)!r}); from {__package__}.{module} import {function}; {function}()"
    )
    return [os.path.realpath(sys.executable), "-IS", "-c", code]


def supported() -> str | None:
    """None, or the sentence that says why there can be no virtual cluster and what would help. Changes nothing."""
    if not sys.platform.startswith("linux"):
        return f"A virtual cluster needs Linux namespaces; this is {sys.platform}."
    missing = [tool for tool in ("ip", "tc") if not shutil.which(tool, path=search_path())]
    if missing:
        return f"A virtual cluster needs {' and '.join(missing)}, which the Debian package iproute2 has."
    from harness.base import process  # noqa: PLC0415 - nodes start with this module, and need none of that

    done = process.answer(python("support", "trial"), _LIMIT_S, environment())
    if done.status is None:
        return f"A virtual cluster is not possible here: making namespaces took more than {_LIMIT_S:.0f} s."
    if done.status == 0:
        return None
    step, _, reason = done.out.strip().partition(": ")
    advice = ADVICE.get(step, "this is unexpected")
    return f"A virtual cluster is not possible here: {step} refused ({reason or done.err.strip()[-200:]}); {advice}."


def search_path() -> str:
    """PATH with the places where ip, tc and Slurm's daemons are, which a user's own often lacks."""
    return os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/local/sbin", "/usr/sbin", "/sbin"])


def install_program(path: Path, source: Path) -> Path:
    """Copy a Python file that needs the standard library alone to `path`, executable, for this interpreter."""
    path.write_text(f"#!{os.path.realpath(sys.executable)} -IS\n{source.read_text()}")
    path.chmod(0o700)
    return path


def environment() -> dict[str, str]:
    """For the cluster's own processes."""
    return {"PATH": search_path(), "HOME": os.environ.get("HOME", "/"), "LC_ALL": "C.UTF-8"}


Step = tuple[str, Callable[[], None]]


def trial() -> None:
    """Every step that a cluster takes, once; prints the one that failed. What it makes goes with the process."""
    _take(
        ("user namespace", lambda: None if linux.privileged() else linux.enter_user_namespace(0, 0)),
        ("namespaces", linux.enter_namespaces),
    )
    first = os.fork()  # /proc shows the PID namespace of whoever mounts it
    if first == 0:
        _take(
            ("mounts", linux.mount_proc_and_sys),
            ("mounts", lambda: linux.mount("tmpfs", "/dev/shm", "tmpfs")),
            ("bridge and veth", lambda: _batch("ip", network.switch_lines([os.getpid()], 65000))),
            ("limiter", lambda: _batch("tc", line.limiter_lines(network.INTERFACE, line.Line("1gbit", 65000)))),
        )
        os._exit(0)
    _, status = os.waitpid(first, 0)
    raise SystemExit(1 if status else 0)


def _take(*steps: Step) -> None:
    for name, step in steps:
        try:
            step()
        except OSError as error:
            os.write(1, f"{name}: {error.strerror or error}".encode())
            os._exit(1)


def _batch(tool: str, lines: list[str]) -> None:
    done = subprocess.run(
        [tool, "-batch", "-"], input="\n".join(lines) + "\n", text=True, capture_output=True, check=False
    )
    if done.returncode != 0:
        raise OSError(0, " ".join(done.stderr.split()))
