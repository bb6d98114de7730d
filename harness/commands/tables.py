# SPDX-License-Identifier: BSD-3-Clause
"""What the commands share that measure and end with a table: their options, and the table of what sessions hold."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from analysis.gate import files
from harness.base.errors import UsageError
from harness.commands import options
from harness.job import session as sessions
from harness.sessions.request import parse_list

if TYPE_CHECKING:
    from analysis.evidence import Evidence

Launches = Annotated[int | None, typer.Option("--launches", min=1, help="A variant; default: by scale.")]
Scale = Annotated[str, typer.Option("--scale", metavar="quick|test", help="How much: test is only to try it.")]
Resume = Annotated[
    str, typer.Option("--resume", metavar="SESSION", help="Run what is missing or failed in it, and nothing else.")
]
Force = Annotated[bool, typer.Option("--force", help="Resume though what would run has changed.")]
TableOf = Annotated[
    str, typer.Option("--table", metavar="SESSION,...", help="Measure nothing: only the table of these sessions.")
]
Out = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", show_default=False, help="Where the table goes; else stdout.")
]


def check_call(
    context: typer.Context, table: str, resume: str, out: Path | None, *, beside: Sequence[str] = ()
) -> None:
    """UsageError before anything is measured: for a table that cannot be written, and for options without an effect,
    beside --table, which measures nothing, and beside --resume, which goes on with what was asked for. `beside`:
    parameters that say how the table is written."""
    check(out)
    if table:
        options.none_beside(context, "table", "out", *beside, why="measures nothing")
    elif resume:
        options.none_beside(context, "resume", "force", "list_only", "out", *beside)


def named(names: str) -> list[Path]:
    """The folders of these sessions, UsageError if one is not there."""
    return [session.path for session in sessions.load_all(parse_list(names))]


def evidence_of(paths: Sequence[Path]) -> Evidence:
    """What these sessions hold."""
    from analysis.evidence import Evidence  # noqa: PLC0415 - a second of imports
    from analysis.records.load import load  # noqa: PLC0415

    return Evidence(load(paths))


def check(out: Path | None) -> None:
    """UsageError if no table can be written there: which is better known before it is measured than after."""
    if out is None:
        return
    with _sentence(out, "--out"):
        if out.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not _special(out):
            with files.beside(out.absolute().parent, b""):
                pass


def write(text: str, out: Path | None) -> None:
    """The table into a file, or to stdout."""
    if out is None:
        print(text)
    else:
        write_whole(text, out, "--out")


def write_whole(text: str, path: Path, option: str) -> None:
    """Into a file, whole or not at all; UsageError, with the option that named it, where it cannot be written."""
    with _sentence(path, option):
        special = _special(path)
        partial = path if special else path.with_name(f".{path.name}.part")
        partial.write_text(text)
        if not special:
            partial.replace(path)


def _special(path: Path) -> bool:
    """Whether it is one like /dev/stdout, which no rename may replace."""
    return path.exists() and not path.is_file()


@contextlib.contextmanager
def _sentence(path: Path, option: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        said = f"{option} {path} cannot be written ({error.strerror}); give a file in a folder that exists."
        raise UsageError(said) from error
