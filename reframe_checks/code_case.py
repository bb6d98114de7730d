# SPDX-License-Identifier: BSD-3-Clause
"""A case of somebody else's code as a program of a job: its folder filled, its helpers found, its command complete."""

from __future__ import annotations

import glob
import os
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness import codes
from harness.base.mpis import MPIS
from harness.codes.code import Case, Code
from harness.codes.find import Found, every, find, near
from harness.codes.known import CASES
from harness.job.program import Program, another_mpi

CODES = Path(codes.__file__).resolve().parent
IN_ITS_PLACE = "$command"  # what a driver's own tool puts there itself


def of_study(
    name: str,
    ranks: int,
    points: Sequence[Mapping[str, Any]],
    folder: Path,
    environ: Mapping[str, Any],
    loading: dict[str, str],
) -> tuple[Program | str, dict[str, str]]:
    """The program of this case in `folder`, with the variables that it is given; or why it cannot be run. `loading`:
    with which a program finds this MPI."""
    code, case = CASES[name]
    case = replace(case, ranks=ranks)
    found = of_mpi(every(code, case.programs(), environ.get("apps")), environ["library"], dict(os.environ) | loading)
    if isinstance(found, str):
        return found or code.absent(), {}
    return program(code, case, found, points, folder, environ), environment(case, found, environ["mpi"])


def program(
    code: Code, case: Case, found: Found, points: Sequence[Mapping[str, Any]], folder: Path, environ: Mapping[str, Any]
) -> Program | str:
    """The program that measures these points in `folder`; or why it cannot, in words."""
    folders = environ.get("apps")
    if absent := _fill(case, found, folder):
        return absent
    helpers = []
    for name, *arguments in case.prepare:
        helper = _helper(code, name, found, folders)
        if not helper:
            return f"its {name} is not found; install it with: {code.how_to_get()}"
        helpers.append([helper, *arguments])
    words = case.words(points)
    if not case.driver:
        return Program([str(found.path), *words], str(folder), case.ranks, case=case.name, prepare=helpers)
    driver = [sys.executable, str(CODES / case.driver)]
    label, installation = environ["mpi"], glob.escape(str(found.path.parent.parent)[1:])
    shared = [f"--program={found.path}", f"--label={label}", *words]
    return Program(
        [IN_ITS_PLACE],
        str(folder),
        case.ranks,
        case=case.name,
        prepare=[*helpers, [*driver, "build", *shared]],
        driver=[*driver, "run", *shared, "--"],
        built=[f"{installation}/{pattern}" for pattern in case.builds(points, label)],
    )


def of_mpi(places: Iterable[Found], library: str, environ: Mapping[str, str]) -> Found | str:
    """The first that does not run on another MPI than the one whose version holds the word `library`; or why none does,
    empty where there is none at all."""
    reasons = []
    for found in places:
        wrong = another_mpi(str(found.path), library, environ)
        if not wrong:
            return found
        reasons.append(f"{found.path} ({found.where}): {wrong}")
    return "; ".join(reasons)


def environment(case: Case, found: Found, mpi: str) -> dict[str, str]:
    """What it is given, and where its installation is, unless the caller's environment says that; for a driver, which
    builds, the compilers of this MPI, if they are the harness's own."""
    near = {name: (found.path.parent / folder).resolve() for name, folder in case.folders.items()}
    there = {name: str(folder) for name, folder in near.items() if folder.is_dir() and name not in os.environ}
    compilers = {"PATH": MPIS[mpi].shell_environment()["PATH"]} if case.driver and mpi in MPIS else {}
    return dict(case.environment) | there | compilers


def _helper(code: Code, name: str, found: Found, folders: Mapping[str, str] | None) -> str:
    """A program that prepares the case: of the same installation, if there are several."""
    if near := shutil.which(name, path=str(found.path.parent)):
        return near
    elsewhere = find(code, [name], folders)
    return str(elsewhere.path) if elsewhere else ""


def _fill(case: Case, found: Found, folder: Path) -> str:
    """Put what the case reads into its folder; which file of its installation is lacking, or empty."""
    for name, text in case.texts().items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    for patterns in case.copies:
        source = near(found, patterns)
        if source is None:
            return f"it lacks {patterns[0].rpartition('/')[2]}, which is installed with it ({found.path})"
        shutil.copy(source, folder)
    return ""
