# SPDX-License-Identifier: BSD-3-Clause
"""A document of sessions: its head, its tables, where the numbers are from and what is to be said of them with care."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from analysis.documents.sources import source
from analysis.errors import UsageError
from analysis.evidence import Evidence
from analysis.records.load import load


def whole(head: str, lines: Sequence[str], evidence: Evidence) -> str:
    """As Markdown."""
    return "\n".join([head, *lines, *map(source, evidence.records.sessions), *evidence.records.cautions(), ""])


def print_of(document: Callable[[Evidence], str], sessions: Sequence[str]) -> int:
    """Print the document of these session folders; the exit status."""
    _, evidence = asked_of(argparse.ArgumentParser(), sessions)
    print(document(evidence))
    return 0


def asked_of(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> tuple[argparse.Namespace, Evidence]:
    """What a command that reads sessions was asked for, and these. Where there is no such session it ends with a
    sentence and status 2, as argparse does for what it does not know."""
    parser.add_argument("sessions", nargs="+", type=Path, metavar="SESSION")
    asked = parser.parse_args(arguments)
    try:
        return asked, Evidence(load(asked.sessions))
    except UsageError as error:
        parser.exit(2, f"{parser.prog}: {error}\n")
