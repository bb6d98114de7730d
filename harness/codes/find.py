# SPDX-License-Identifier: BSD-3-Clause
"""Where a code's programs are: in a folder that is named, an MPI's own, on PATH, a package's, in Spack's store.

And what its cases need besides and is not here.
"""

from __future__ import annotations

import functools
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.base import process
from harness.base.mpis import MPIS
from harness.codes.code import Code

SPACK_LIMIT_S = 60.0


@dataclass(frozen=True)
class Found:
    """A program, and in words where it was."""

    path: Path
    where: str


def find(code: Code, names: Sequence[str] = (), folders: Mapping[str, str] | None = None) -> Found | None:
    """The first of a code's programs, or of these `names`, that is here. `folders`: code -> where a site has it."""
    return next(every(code, names, folders), None)


def every(code: Code, names: Sequence[str] = (), folders: Mapping[str, str] | None = None) -> Iterator[Found]:
    """The same in each place that has it, since one may be there for each MPI; Spack, which takes a second, is asked
    last. Beside a folder that is named for the code no other place counts. In each kind of place a name counts before
    a folder: the second name only where no folder has the first."""
    wanted = tuple(names) or code.names
    named = [
        *((str(folder), "the site's file") for folder in _with_bin((folders or {}).get(code.name))),
        *(
            (str(folder), code.variable)
            for folder in _with_bin(os.environ.get(code.variable) if code.variable else None)
        ),
    ]
    places = [
        *([(str(MPIS[code.wheel].bin), f"the wheels of {MPIS[code.wheel].title}")] if code.wheel else []),
        (os.environ.get("PATH", os.defpath), "PATH"),
        *(
            (folder, "the distribution")
            for pattern in code.places
            for folder in sorted(map(str, Path("/").glob(pattern)))
        ),
    ]
    if found := next(filter(None, (_of_path(wanted, path, where) for path, where in named)), []):
        yield from found
        return
    for path, where in places:
        yield from _of_path(wanted, path, where)
    yield from _in_spack(code, wanted)


def _of_path(names: Sequence[str], path: str, where: str) -> list[Found]:
    """Each folder's program of the first name that any has."""
    for name in names:
        tried = (shutil.which(name, path=folder) for folder in path.split(os.pathsep))
        if found := [Path(program).absolute() for program in tried if program]:
            return [Found(program, where) for program in dict.fromkeys(found)]
    return []


def near(found: Found, patterns: Sequence[str]) -> Path | None:
    """A file of the installation that a program belongs to, by the first of these patterns that has one."""
    near = (path for pattern in patterns for path in sorted(found.path.resolve().parent.glob(pattern)))
    return next(near, None)


def lacks(code: Code, folders: Mapping[str, str] | None = None) -> list[str]:
    """What a code and its cases need and is not here, by name: programs, and files of its installation."""
    if find(code, (), folders) is None:
        return [code.names[0]]
    missing = [pattern.rpartition("/")[2] for pattern in code.files if not any(Path("/").glob(pattern))]
    for case in code.cases:
        found = find(code, case.programs(), folders)
        if found is None:
            missing.append(case.program)
            continue
        missing += [name for name, *_ in case.prepare if find(code, [name], folders) is None]
        missing += [patterns[0].rpartition("/")[2] for patterns in case.copies if near(found, patterns) is None]
    return list(dict.fromkeys(missing))


def _with_bin(folder: str | None) -> list[Path]:
    return [Path(folder), Path(folder) / "bin"] if folder else []


def _in_spack(code: Code, names: Sequence[str]) -> list[Found]:
    """Where Spack has installed it; OSU's programs are below libexec."""
    spack = shutil.which("spack")
    found = []
    for prefix in _prefixes(spack, code.spack.split()[0]) if code.spack and spack else []:
        places = (
            path for name in names for path in [prefix / "bin" / name, *sorted((prefix / "libexec").glob(f"**/{name}"))]
        )
        found += [Found(path, "Spack") for path in places if os.access(path, os.X_OK)][:1]
    return found


@functools.cache
def _prefixes(spack: str, package: str) -> list[Path]:
    """Asked once: Spack takes a second to answer, and a code may have a dozen programs."""
    said = process.answer([spack, "find", "--format", "{prefix}", package], SPACK_LIMIT_S)
    return [Path(line) for line in said.out.splitlines() if line.startswith("/")] if said.status == 0 else []
