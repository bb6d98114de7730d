# SPDX-License-Identifier: BSD-3-Clause
"""Where things are, and whether .venv is. Standard library only: the set-up uses it before any package is installed.

ROOT holds the sources, in a clone or as pip has installed them, with the same folders in both. HOME is where things are
made: the folder that OVERLAP_BENCH_HOME names, or the clone itself, or overlap-bench in the user's home. It is not the
folder of the call: ReFrame reads a configuration from the configuration's own folder, and a job has one of its own.
"""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

from harness.base.errors import UsageError

ROOT = Path(__file__).resolve().parents[2]
IN_CLONE = (ROOT / "bench").is_file()  # which is no part of an installed package
HOME = Path(os.environ.get("OVERLAP_BENCH_HOME") or (ROOT if IN_CLONE else "~/overlap-bench")).expanduser().resolve()
VENV = ROOT / ".venv" if IN_CLONE else Path(sys.prefix)
PYTHON = VENV / "bin" / "python"
VENV_STAMP = VENV / "overlap-bench.stamp"
LOCK_FILE = ROOT / "uv.lock"
MPI_DIR = HOME / ".mpi"
BUILD_DIR = HOME / "build"
STATE_DIR = HOME / ".bench"
SCHEMA = ROOT / "results" / "schema" / "record.schema.json"


def results_dir() -> Path:
    """The folder that holds the sessions (OVERLAP_BENCH_RESULTS moves it, to a site's scratch say)."""
    return Path(os.environ.get("OVERLAP_BENCH_RESULTS", HOME / "results"))


def venv_wanted() -> str:
    """What the stamp of a .venv says that is as uv.lock has it, of this Python."""
    python = ".".join(map(str, sys.version_info[:3]))
    return f"{python} {hashlib.sha256(LOCK_FILE.read_bytes()).hexdigest()}"


def venv_is_there() -> bool:
    try:
        return VENV_STAMP.read_text() == venv_wanted()
    except OSError:
        return False


def require_clone(what: str) -> None:
    """UsageError where only the installed package is there."""
    if not IN_CLONE:
        raise UsageError(f"{what} needs a clone of Overlap Bench, and this is an installed package: run ./bench there.")
