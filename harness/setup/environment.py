# SPDX-License-Identifier: BSD-3-Clause
"""The virtual environment: .venv from requirements.lock, made anew when the lock or the Python changes."""

from __future__ import annotations

import hashlib
import platform
import shutil
import sys

from harness.paths import LOCK_FILE, VENV
from harness.setup import packages
from harness.setup.steps import has_stamp, run_step, setup_lock, write_stamp

STAMP = VENV / "overlap-bench.stamp"
PYTHON = VENV / "bin" / "python"


def _wanted() -> str:
    return f"{platform.python_version()} {hashlib.sha256(LOCK_FILE.read_bytes()).hexdigest()}"


def ensure() -> None:
    """Make .venv what requirements.lock says. Interrupted half-way it is made anew at the next start."""
    if has_stamp(STAMP, _wanted()):
        return
    packages.ensure("environment")
    with setup_lock():
        if has_stamp(STAMP, _wanted()):
            return
        shutil.rmtree(VENV, ignore_errors=True)
        run_step("making .venv", [sys.executable, "-m", "venv", str(VENV)])
        pip = [str(PYTHON), "-m", "pip", "--disable-pip-version-check", "install", "-q"]
        locked = [*pip, "--require-hashes", "-r", str(LOCK_FILE)]
        run_step("installing the Python packages of requirements.lock", locked, about_s=35)
        write_stamp(STAMP, _wanted())
