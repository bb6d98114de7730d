# SPDX-License-Identifier: BSD-3-Clause
"""./bench report: figures, CSV and report.html of sessions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.base.steps import say
from harness.sessions import session as sessions


def report(
    names: Annotated[list[str], typer.Argument(metavar="[SESSION...]", help="Names or folders; default: latest.")] = [],  # noqa: B006
    out: Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Where to; default: the session.")] = None,
) -> int:
    """Draw the figures and write the report of one or several sessions.

    Example: ./bench report latest --out /tmp/report
    """
    found = [sessions.load(name) for name in names or ["latest"]]
    for session in found:
        session.tidy()
    print(write([session.path for session in found], out))
    return 0


def write(paths: list[Path], out: Path | None) -> Path:
    """Write the report of these session folders and return its path."""
    from analysis.report.report import write_report  # noqa: PLC0415 - a second of imports

    say("drawing the figures and the report ...")
    return write_report(paths, out)
