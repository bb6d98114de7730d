# SPDX-License-Identifier: BSD-3-Clause
"""./bench keep: a session in one compressed file, to commit or to send."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.base.archive import SUFFIX
from harness.job import session as sessions
from harness.sessions import keep as kept
from harness.sessions.request import parse_list


def keep(
    names: Annotated[list[str], typer.Argument(metavar="SESSION...", help="Names or folders, or latest.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="NAME.tar.xz; default: beside the session, by its name."),
    ] = None,
    study: Annotated[str, typer.Option("--study", metavar="NAME,...", help="Only these studies.")] = "",
    failed: Annotated[bool, typer.Option("--failed", help="Though some of its points failed.")] = False,
) -> int:
    """Put one session or several into one compressed file, with every sample; commands read it as they read a folder.

    Figures and the report are left out: they are drawn again.
    Example: ./bench keep latest --out results/reference/fft.tar.xz
    """
    paths = [session.path for session in sessions.load_all(names)]
    file = out or paths[0].with_name(paths[0].name + SUFFIX)
    kept.keep(paths, file, parse_list(study), failed)
    print(file)
    return 0
