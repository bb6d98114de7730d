# SPDX-License-Identifier: BSD-3-Clause
"""./bench apps: other people's codes, which are here, and how to get the rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer

from harness.base.errors import UsageError, there_are
from harness.base.mpis import MPIS
from harness.codes.code import Code
from harness.codes.find import find, lacks
from harness.codes.known import CODES
from harness.commands import options
from harness.setup import environment
from harness.setup.environment import ensure_mpis
from harness.sites import systems

INSTALL = "install"
Folders = Mapping[str, str]  # code -> where a site has it


def apps(
    words: Annotated[
        list[str], typer.Argument(metavar="[install [CODE...]]", help="Install what the distribution has, or these.")
    ] = [],  # noqa: B006 - Typer copies it
    system: options.System = "vcluster",
) -> int:
    """List other people's codes: where each is found, what it lacks, and how to get it; or install those of the
    distribution.

    Example: ./bench apps install lammps hpcc
    """
    if words and words[0] != INSTALL:
        raise UsageError(f"./bench apps {words[0]}: leave it out to list, or say {INSTALL}.")
    folders = systems.by_name(system).apps or {"": {}}
    if words:
        _install(_chosen(words[1:], folders))
    print("\n".join(_line(code, folders) for code in CODES))
    print("A code that is elsewhere: load its module, or name its folder in the site's file (apps).")
    return 0


def _chosen(names: list[str], folders: Mapping[str, Folders]) -> list[Code]:
    """The codes of these names, else all that can be installed, of which something lacks. UsageError for one that
    cannot."""
    known = {code.name: code for code in CODES}
    for name in names:
        if name not in known:
            raise UsageError(f"There is no code '{name}'. {there_are(name, known)}")
        if not known[name].debian and not known[name].wheel:
            raise UsageError(f"{known[name].title} is not in the distribution: {known[name].how_to_get()}.")
    chosen = [known[name] for name in names] or [code for code in known.values() if code.debian or code.wheel]
    return [code for code in chosen if any(lacks(code, of_mpi) for of_mpi in folders.values())]


def _install(codes: list[Code]) -> None:
    for code in codes:
        if code.wheel:
            ensure_mpis(MPIS[code.wheel])
    environment.install_packages([package for code in codes for package in code.debian])


def _line(code: Code, folders: Mapping[str, Folders]) -> str:
    cases = ", ".join(case.name for case in code.cases)
    run = f"run as {cases}" if cases else "no study runs it"
    there: dict[str, list[str]] = {}  # what is said of it -> of which MPIs
    for mpi, of_mpi in folders.items():
        there.setdefault(_where(code, of_mpi), []).append(mpi)
    said = "; ".join(there) if len(there) == 1 else "; ".join(f"{', '.join(mpis)}: {x}" for x, mpis in there.items())
    return f"{code.name} ({code.title}): {'; '.join(filter(None, [said, run, code.remark()]))}"


def _where(code: Code, folders: Folders) -> str:
    found = find(code, (), folders)
    if found is None:
        return f"not found; {code.how_to_get()}"
    lacking = lacks(code, folders)
    return f"{found.path}, {found.where}" + (f", lacks {', '.join(lacking)}: {code.how_to_get()}" if lacking else "")
