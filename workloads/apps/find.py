# SPDX-License-Identifier: BSD-3-Clause
"""Where a code's programs are: in a folder that is named, an MPI's own, on PATH, a package's, in Spack's store."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.base import process
from harness.base.mpis import MPIS
from workloads.apps.model import Code

SPACK_LIMIT_S = 60.0


@dataclass(frozen=True)
class Found:
    """A program, and in words where it was."""

    path: Path
    where: str


def find(code: Code, names: Sequence[str] = (), folders: Mapping[str, str] | None = None) -> Found | None:
    """The first of a code's programs, or of these `names`, that is here. `folders`: code -> where a site has it."""
    wanted = tuple(names) or code.names
    places = [
        *([(str(folder), "the site's file") for folder in _with_bin((folders or {}).get(code.name))]),
        *(
            [(str(folder), code.variable) for folder in _with_bin(os.environ.get(code.variable))]
            if code.variable
            else []
        ),
        *([(str(MPIS[code.wheel].bin), f"the wheels of {MPIS[code.wheel].title}")] if code.wheel else []),
        (os.environ.get("PATH", os.defpath), "PATH"),
        *(
            (folder, "the distribution")
            for pattern in code.places
            for folder in sorted(map(str, Path("/").glob(pattern)))
        ),
    ]
    for path, where in places:
        for name in wanted:
            if found := shutil.which(name, path=path):
                return Found(Path(found).absolute(), where)
    return _in_spack(code, wanted)


def _with_bin(folder: str | None) -> list[Path]:
    return [Path(folder), Path(folder) / "bin"] if folder else []


def _in_spack(code: Code, names: Sequence[str]) -> Found | None:
    """Where Spack has installed it; OSU's programs are below libexec."""
    if not code.spack or shutil.which("spack") is None:
        return None
    said = process.answer(["spack", "location", "-i", code.spack.split()[0]], SPACK_LIMIT_S)
    if said.status != 0:
        return None
    prefix = Path(said.out.strip())
    for name in names:
        for path in [prefix / "bin" / name, *sorted((prefix / "libexec").glob(f"**/{name}"))]:
            if os.access(path, os.X_OK):
                return Found(path, "Spack")
    return None
