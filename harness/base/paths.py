# SPDX-License-Identifier: BSD-3-Clause
"""Where things are, and whether .venv is. Standard library only: the set-up uses it before any package is installed.

ROOT holds the sources, in a clone or as pip has installed them, with the same folders in both. HOME is where things are
made: the folder that OVERLAP_BENCH_HOME names, or the clone itself, or overlap-bench in the user's home. It is not the
folder of the call: ReFrame reads a configuration from the configuration's own folder, and a job has one of its own.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from pathlib import Path

from harness.base.errors import UsageError


def _make_absolute(*names: str) -> None:
    """Folders that the environment names, for this process and all that it starts: a job has a folder of its own, in
    which a relative path would be another one. An empty name is as good as none."""
    for name in names:
        if given := os.environ.pop(name, ""):
            os.environ[name] = str(Path(given).expanduser().absolute())


RESULTS = "OVERLAP_BENCH_RESULTS"
FOLDERS = ("OVERLAP_BENCH_HOME", RESULTS, "OVERLAP_BENCH_STATE", "TMPDIR")
_make_absolute(*FOLDERS)

ROOT = Path(__file__).resolve().parents[2]
IN_CLONE = (ROOT / "bench").is_file()  # which is no part of an installed package
PACKED_FROM = "commit.json"  # in an installed package's ROOT: the commit that it was made of, see git.state
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
    return Path(os.environ.get(RESULTS) or HOME / "results").absolute()


# A blank ends a word of a command line, a colon or comma one of a list: so compilers, mpiexec, PATH and -Wl read them.
_BREAKS = re.compile(r"[\s:;,\"'`\\$&|<>()*?\[\]{}#%!]")


def require_plain() -> None:
    """UsageError where a folder that others are told of has a character in its path that they take for its end."""
    named = {f"{name} is": Path(os.environ[name]) for name in FOLDERS if os.environ.get(name)}
    for what, path in {"Overlap Bench is in": ROOT, "What it makes is in": HOME, **named}.items():
        if found := _BREAKS.search(str(path)):
            end = f"compilers and launchers take {found[0]!r} for the end of it"
            raise UsageError(f"{what} '{path}': {end}, so a folder without is wanted.")


def python(*words: str, interpreter: str | Path = sys.executable) -> list[str]:
    """A command line of a Python of ours. It reads and writes UTF-8, whatever the caller's language is: our files say
    no encoding. Not by a variable, which a user's own program would be given, too."""
    return [str(interpreter), "-X", "utf8", *words]


def venv_wanted() -> str:
    """What the stamp of a .venv says that is as uv.lock has it, of this Python."""
    python = ".".join(map(str, sys.version_info[:3]))
    return f"{python} {hashlib.sha256(LOCK_FILE.read_bytes()).hexdigest()}"


def venv_is_there() -> bool:
    """Whole, of this Python, and not moved since: its commands name their interpreter by its whole path. In somebody
    else's clone that of theirs will do, since none can be made there."""
    try:
        named = re.search(r"/.*?/python[\d.]*", (VENV / "bin" / "reframe").read_text())
        (python, packages), (ours, wanted) = VENV_STAMP.read_text().split(), venv_wanted().split()
        will_do = packages == wanted and (python == ours or not os.access(VENV, os.W_OK))
        return will_do and named is not None and Path(named[0]).exists()
    except (OSError, ValueError):
        return False


def require_clone(what: str) -> None:
    """UsageError where only the installed package is there."""
    if not IN_CLONE:
        raise UsageError(f"{what} needs a clone of Overlap Bench, and this is an installed package: run ./bench there.")
