# SPDX-License-Identifier: BSD-3-Clause
"""The virtual environment: .venv from uv.lock, made anew when the lock or the Python changes.

What a command needs besides, a group of pyproject.toml, is added when it is first asked for. uv installs, since it is
many times faster than pip; pip is what there is without it.
"""

from __future__ import annotations

import hashlib
import platform
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from harness.base import process
from harness.base.errors import Failure
from harness.base.paths import LOCK_FILE, VENV
from harness.base.steps import has_stamp, run_step, say, setup_lock, write_stamp
from harness.setup import packages

STAMP = VENV / "overlap-bench.stamp"
PYTHON = VENV / "bin" / "python"
UV = VENV / "bin" / "uv"
PIP = [str(PYTHON), "-m", "pip", "--disable-pip-version-check"]
LOCK_READER = Path(__file__).with_name("lock_file.py")
ANSWER_LIMIT_S = 60.0


def _wanted() -> str:
    return f"{platform.python_version()} {hashlib.sha256(LOCK_FILE.read_bytes()).hexdigest()}"


def is_there() -> bool:
    """Whether .venv is what uv.lock says."""
    return has_stamp(STAMP, _wanted())


def ensure() -> None:
    """Make .venv what uv.lock says. Interrupted half-way it is made anew at the next start."""
    if is_there():
        return
    packages.ensure("environment")
    with setup_lock():
        if is_there():
            return
        shutil.rmtree(VENV, ignore_errors=True)
        run_step("making .venv", [sys.executable, "-m", "venv", str(VENV)])
        _install_uv()
        install_locked("installing the Python packages", about_s=10)
        write_stamp(STAMP, _wanted())


def ensure_group(name: str) -> None:
    """Have in .venv what a group of pyproject.toml names, too. Only from within it: ensure() has made it."""
    stamp = VENV / f"overlap-bench-{name}.stamp"
    if has_stamp(stamp, _wanted()):
        return
    with setup_lock():
        if has_stamp(stamp, _wanted()):
            return
        install_locked(f"installing the Python packages for {name}", name, about_s=10)
        write_stamp(stamp, _wanted())


def _install_uv() -> None:
    # uv does not read pip's configuration: where that names an index, it may be the only one that is reached from here
    configured = process.answer([*PIP, "config", "list"], ANSWER_LIMIT_S).out
    if "index" in configured:
        say("pip is configured with an index of its own here: pip installs the Python packages")
        return
    try:
        install_locked("installing uv", "installer")
    except Failure as failure:
        say(f"{failure}\nGoing on with pip alone.")


def install_locked(title: str, group: str = "", about_s: int = 0) -> None:
    """What uv.lock names for a group, or for the harness itself, and nothing else: it is complete, and lacks what
    pyproject.toml's overrides leave out."""
    read = process.answer([str(PYTHON), str(LOCK_READER), str(LOCK_FILE), *([group] if group else [])], ANSWER_LIMIT_S)
    if read.status != 0:
        raise Failure(f"{LOCK_FILE.name} cannot be read: {read.last_line}")
    with tempfile.NamedTemporaryFile("w", prefix="overlap-bench-", suffix=".txt") as wanted:
        wanted.write(read.out)
        wanted.flush()
        install(title, VENV, ["--no-deps", "--require-hashes", "-r", wanted.name], about_s)


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
