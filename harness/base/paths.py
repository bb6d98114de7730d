# SPDX-License-Identifier: BSD-3-Clause
"""Where things are: folders, .venv if it is there, kept sessions. Standard library only: the set-up uses it before any
package is installed.

ROOT holds the sources, in a clone or as pip has installed them, with the same folders in both. HOME is where things are
made: the folder that OVERLAP_BENCH_HOME names, or the clone itself, or overlap-bench in the user's home. It is not the
folder of the call: ReFrame reads a configuration from the configuration's own folder, and a job has one of its own.

Of kept sessions one file, NAME.tar.xz, holds the folder NAME, which is a session or has several as its folders.
Wherever a session's folder is named, such a file does as well, and so does the folder that would be there without it:
results/reference/demo is found in results/reference/demo.tar.xz. It is unpacked once, below the state folder: safe
where several processes ask at once, which find the same folder. Where that cannot be written each unpacks for itself.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
import sys
from pathlib import Path, PurePosixPath

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
PACKED_FROM = "commit.json"  # in an installed package's ROOT: the commit that it was made of, see machine.commit_state
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


SUFFIX = ".tar.xz"
FACTS = "session.json"
# What stands in that file from before some names changed -> what stands there today, in this order.
RENAMED = {
    '"search": "': '"method": "',  # what a search is called today was a race, and its method a search
    '"race":': '"search":',
    '"seats":': '"at_once":',
    '"settle":': '"block_rounds":',
    '"arms":': '"sides":',
    '"canary":': '"check_run":',
}
UNPACKED = STATE_DIR / "kept"
REFERENCE = ROOT / "results" / "reference"


def folder_of(path: Path) -> Path:
    """The folder that `path` names, out of an archive where it is none; `path` itself where there is neither.

    UsageError for an archive that is damaged or holds anything but the files of its own folder.
    """
    if path.is_file() and path.name.endswith(SUFFIX):
        return _unpacked(path)
    if path.exists():
        return path
    for named in (path, *path.parents):
        archive = named.with_name(named.name + SUFFIX) if named.name else named
        if archive.is_file():
            inside = _unpacked(archive) / path.relative_to(named)
            return inside if inside.exists() else path
    return path


def name_of(folder: Path) -> Path:
    """By what a reader names the folder: one that was unpacked out of an archive of this repository by that one's."""
    if not folder.is_relative_to(UNPACKED):
        return folder
    _, *inside = folder.relative_to(UNPACKED).parts
    return REFERENCE.joinpath(*inside) if inside and (REFERENCE / f"{inside[0]}{SUFFIX}").is_file() else folder


def sessions_of(path: Path) -> list[Path]:
    """The sessions' folders that `path` names: several where its folder has no session.json and theirs have."""
    folder = folder_of(path)
    if not folder.is_dir() or (folder / FACTS).exists():
        return [folder]
    return sorted(facts.parent for facts in folder.glob(f"*/{FACTS}")) or [folder]


def _unpacked(archive: Path) -> Path:
    name = archive.name.removesuffix(SUFFIX)
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()[:16]
    place = UNPACKED / f"{name}-{digest}"
    if not place.is_dir():
        place = _writable() / place.name
    if not place.is_dir():
        import tempfile  # noqa: PLC0415 - see _extract

        with tempfile.TemporaryDirectory(dir=place.parent, prefix=f".{name}-") as beside:
            whole = Path(beside) / "whole"
            whole.mkdir()
            _extract(archive, name, whole)
            with contextlib.suppress(OSError):  # another process was faster
                whole.rename(place)
    return place / name


def _writable() -> Path:
    """The folder for what is unpacked; in somebody else's clone one that is there as long as this process is."""
    with contextlib.suppress(OSError):
        UNPACKED.mkdir(parents=True, exist_ok=True)
    return UNPACKED if os.access(UNPACKED, os.W_OK) else _own()


@functools.cache
def _own() -> Path:
    import atexit  # noqa: PLC0415 - see _extract
    import tempfile  # noqa: PLC0415

    folder = tempfile.TemporaryDirectory(prefix="overlap-bench-")
    atexit.register(folder.cleanup)
    return Path(folder.name)


def _extract(archive: Path, name: str, into: Path) -> None:
    import lzma  # noqa: PLC0415 - with these every call would take 10 ms more
    import shutil  # noqa: PLC0415
    import tarfile  # noqa: PLC0415

    wrong = UsageError(f"{archive} is no kept session, or damaged: ./bench keep writes such files.")
    try:
        with tarfile.open(archive, "r:xz") as tar:
            for member in tar:
                place = PurePosixPath(member.name)
                if place.parts[:1] != (name,) or ".." in place.parts or not (member.isfile() or member.isdir()):
                    raise wrong
                target = into / place
                (target if member.isdir() else target.parent).mkdir(parents=True, exist_ok=True)
                if (source := tar.extractfile(member)) is not None:
                    with target.open("wb") as file:
                        shutil.copyfileobj(source, file)
    except (tarfile.TarError, lzma.LZMAError, EOFError) as error:
        raise wrong from error
    if not (into / name).is_dir():
        raise wrong


def of_today(facts: bytes) -> bytes:
    """The content of a session.json of any age, by the names of today."""
    for before, today in RENAMED.items():
        facts = facts.replace(before.encode(), today.encode())
    return facts
