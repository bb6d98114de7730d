# SPDX-License-Identifier: BSD-3-Clause
"""./bench compare: is one session slower than another? Made to guard performance in CI."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from harness.commands import tables
from harness.job import session as sessions


class Format(str, Enum):
    """How the comparison is written."""

    MARKDOWN = "markdown"
    JSON = "json"
    JUNIT = "junit"


def compare(
    base: Annotated[str, typer.Argument(metavar="BASE", help="The session to compare with, or latest.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The session to judge, or latest.")],
    form: Annotated[Format, typer.Option("--format", help="How to write it.")] = Format.MARKDOWN,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Where to; default: stdout.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Compare though machine or network differ.")] = False,
) -> int:
    """Compare two sessions point by point: faster, slower, same or cannot tell.

    Exit status 0: all that BASE measured was compared, and nothing is shown to be slower. 1: NEW is slower, or
    something no longer works; or that cannot be told, because NEW lacks something of BASE, nothing could be compared,
    or a point looks slower but was disturbed. 2: the call was wrong, a session is empty, or machine or network differ.
    Example: ./bench compare 20261121-090000-demo latest --format junit --out compare.xml
    """
    from analysis.compare.judge import compare as compare_sessions  # noqa: PLC0415 - a second of imports

    comparison = compare_sessions(sessions.load(base).path, sessions.load(new).path, force=force)
    text = {
        Format.MARKDOWN: comparison.markdown,
        Format.JSON: comparison.json,
        Format.JUNIT: comparison.junit,
    }[form]()
    if out is None:
        print(text)
    else:
        tables.write_whole(text + "\n", out, "--out")
    return comparison.status
