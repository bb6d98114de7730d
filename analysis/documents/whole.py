# SPDX-License-Identifier: BSD-3-Clause
"""A document of sessions: its head, its tables, where the numbers are from and what is to be said of them with care."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from analysis.documents.sources import source
from analysis.evidence import Evidence
from analysis.records.load import load


def whole(head: str, lines: Sequence[str], evidence: Evidence) -> str:
    """As Markdown."""
    return "\n".join([head, *lines, *map(source, evidence.records.sessions), *evidence.records.cautions(), ""])


def print_of(document: Callable[[Evidence], str], sessions: Sequence[str]) -> int:
    """Print the document of these session folders; the exit status."""
    print(document(Evidence(load([Path(session) for session in sessions]))))
    return 0
