# SPDX-License-Identifier: BSD-3-Clause
"""./bench apps: other people's codes, which are here, and how to get the rest."""

from __future__ import annotations

from typing import Annotated

import typer

from harness.base.errors import UsageError
from harness.base.mpis import MPIS
from harness.setup import mpi as mpi_setup
from harness.setup import packages
from workloads.apps.find import find
from workloads.apps.model import Code
from workloads.apps.table import CODES

INSTALL = "install"


def apps(
    words: Annotated[
        list[str], typer.Argument(metavar="[install [CODE...]]", help="Install what the distribution has, or these.")
    ] = [],  # noqa: B006 - Typer copies it
) -> int:
    """List other people's codes: where each is found, and how to get it; or install those of the distribution.

    Example: ./bench apps install lammps hpcc
    """
    if words and words[0] != INSTALL:
        raise UsageError(f"./bench apps {words[0]}: leave it out to list, or say {INSTALL}.")
    if words:
        _install(_chosen(words[1:]))
    print("\n".join(map(_line, CODES)))
    print("A code that is elsewhere: load its module, or name its folder in the site's file (apps).")
    return 0


def _chosen(names: list[str]) -> list[Code]:
    """The codes of these names, else all that can be installed. UsageError for one that cannot."""
    known = {code.name: code for code in CODES}
    for name in names:
        if name not in known:
            raise UsageError(f"There is no code '{name}'. There are: {', '.join(known)}.")
        if not known[name].debian and not known[name].wheel:
            raise UsageError(f"{known[name].title} is not in the distribution: {known[name].how_to_get()}.")
    chosen = [known[name] for name in names] or list(known.values())
    return [code for code in chosen if find(code) is None]


def _install(codes: list[Code]) -> None:
    for code in codes:
        if code.wheel:
            mpi_setup.ensure(MPIS[code.wheel])
    packages.install([package for code in codes for package in code.debian])


def _line(code: Code) -> str:
    cases = ", ".join(case.name for case in code.cases)
    run = f"run as {cases}" if cases else "no study runs it"
    if found := find(code):
        return f"{code.name} ({code.title}): {found.path}, {found.where}; {run}"
    return f"{code.name} ({code.title}): not found; {code.how_to_get()}; {run}"
