# SPDX-License-Identifier: BSD-3-Clause
"""Where things are. Standard library only: the set-up uses it before any package is installed."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
LOCK_FILE = ROOT / "requirements.lock"
DEV_LOCK_FILE = ROOT / "requirements-dev.lock"
UV_LOCK_FILE = ROOT / "requirements-uv.lock"
MPI_DIR = ROOT / ".mpi"
BUILD_DIR = ROOT / "build"
STATE_DIR = ROOT / ".bench"
SCHEMA = ROOT / "results" / "schema" / "record.schema.json"


def results_dir() -> Path:
    """The folder that holds the sessions (OVERLAP_BENCH_RESULTS moves it, to a site's scratch say)."""
    return Path(os.environ.get("OVERLAP_BENCH_RESULTS", ROOT / "results"))
