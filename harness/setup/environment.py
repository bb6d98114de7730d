# SPDX-License-Identifier: BSD-3-Clause
"""The virtual environment: .venv from requirements.lock, made anew when the lock or the Python changes.

uv installs, since it is many times faster than pip; pip is what there is without it.
"""

from __future__ import annotations

import hashlib
import platform
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from harness.base import process
from harness.base.errors import Failure
from harness.base.paths import DEV_LOCK_FILE, LOCK_FILE, ROOT, UV_LOCK_FILE, VENV
from harness.base.steps import has_stamp, run_step, say, setup_lock, write_stamp
from harness.setup import packages

STAMP = VENV / "overlap-bench.stamp"
DEV_STAMP = VENV / "overlap-bench-dev.stamp"
PYTHON = VENV / "bin" / "python"
UV = VENV / "bin" / "uv"
PIP = [str(PYTHON), "-m", "pip", "--disable-pip-version-check"]
ANSWER_LIMIT_S = 60.0


def _wanted(lock: Path) -> str:
    return f"{platform.python_version()} {hashlib.sha256(lock.read_bytes()).hexdigest()}"


def is_there() -> bool:
    """Whether .venv is what requirements.lock says."""
    return has_stamp(STAMP, _wanted(LOCK_FILE))


def ensure() -> None:
    """Make .venv what requirements.lock says. Interrupted half-way it is made anew at the next start."""
    if is_there():
        return
    packages.ensure("environment")
    with setup_lock():
        if is_there():
            return
        shutil.rmtree(VENV, ignore_errors=True)
        run_step("making .venv", [sys.executable, "-m", "venv", str(VENV)])
        _install_uv()
        _install_lock(LOCK_FILE)
        write_stamp(STAMP, _wanted(LOCK_FILE))


def ensure_dev() -> None:
    """Have in .venv what tests and linters need, too. Only from within it: ensure() has made it."""
    _ensure_lock(DEV_LOCK_FILE, DEV_STAMP)


def ensure_extra(name: str) -> None:
    """Have in .venv what an extra of pyproject.toml needs, too, by its own lock file."""
    _ensure_lock(ROOT / f"requirements-{name}.lock", VENV / f"overlap-bench-{name}.stamp")


def _ensure_lock(lock: Path, stamp: Path) -> None:
    if has_stamp(stamp, _wanted(lock)):
        return
    with setup_lock():
        _install_lock(lock)
        write_stamp(stamp, _wanted(lock))


def _install_lock(lock: Path) -> None:
    """What a lock file names and nothing else: it is complete, and lacks what pyproject.toml's overrides leave out."""
    wanted = ["--no-deps", "--require-hashes", "-r", str(lock)]
    install(f"installing the Python packages of {lock.name}", VENV, wanted, about_s=10)


def _install_uv() -> None:
    # uv does not read pip's configuration: where that names an index, it may be the only one that is reached from here
    configured = process.answer([*PIP, "config", "list"], ANSWER_LIMIT_S).out
    if "index" in configured:
        say("pip is configured with an index of its own here: pip installs the Python packages")
        return
    try:
        run_step("installing uv", [*PIP, "install", "-q", "--require-hashes", "-r", str(UV_LOCK_FILE)])
    except Failure as failure:
        say(f"{failure}\nGoing on with pip alone.")


def install(title: str, prefix: Path, wanted: Sequence[str], about_s: int = 0) -> None:
    """Install packages from PyPI into the virtual environment `prefix`; Failure if neither uv nor pip can.

    `wanted`: as on the command line of both.
    """
    target = str(prefix / "bin" / "python")
    if UV.exists():
        # the machine's own certificates, as pip is told by its distribution; and compiled once, as pip does: where the
        # environment forbids Python to keep what it compiles, each start would compile a thousand modules
        options = ["--system-certs", "--compile-bytecode", "--python", target]
        command = [str(UV), "pip", "install", "-q", *options, *wanted]
        try:
            run_step(title, command, about_s=about_s)
        except Failure as failure:
            say(f"{failure}\nTrying pip instead.")
        else:
            return
    elsewhere = [] if prefix == VENV else ["--python", target]
    run_step(title, [*PIP, *elsewhere, "install", "-q", *wanted], about_s=4 * about_s)
