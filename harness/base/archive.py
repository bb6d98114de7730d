# SPDX-License-Identifier: BSD-3-Clause
"""Kept sessions: one file, NAME.tar.xz, holds the folder NAME, which is a session or has several as its folders.

Wherever a session's folder is named, such a file does as well, and so does the folder that would be there without it:
results/reference/demo is found in results/reference/demo.tar.xz. It is unpacked once, below the state folder: safe
where several processes ask at once, which find the same folder. Where that cannot be written each unpacks for itself.
Standard library only.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import lzma
import os
import shutil
import tarfile
import tempfile
from pathlib import Path, PurePosixPath

from harness.base.errors import UsageError
from harness.base.paths import ROOT, STATE_DIR

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
    return UNPACKED if os.access(UNPACKED, os.W_OK) else Path(_own().name)


@functools.cache
def _own() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="overlap-bench-")


def _extract(archive: Path, name: str, into: Path) -> None:
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
