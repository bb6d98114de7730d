# SPDX-License-Identifier: BSD-3-Clause
"""What keeping real gates and real races has in common: the list of sessions, and how the command is called."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from analysis.errors import UsageError


def sessions_of(kept: Path, what: str) -> list[str]:
    """The sessions that a table of harness.sessions names (FILE.jsonl); UsageError if it is no list of `what`."""
    try:
        return [str(json.loads(line)["session"]) for line in kept.read_text().splitlines()]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{kept} is no list of real {what}: {error}.") from error


def status_of(write: Callable[..., None], arguments: Sequence[str], words: Sequence[str] | None) -> int:
    """Of a command that is `write` with these arguments, all of them paths; each is named in words."""
    given = list(sys.argv[1:] if words is None else words)
    if len(given) != len(arguments):
        print(f"{len(arguments)} arguments: {', '.join(arguments)}", file=sys.stderr)
        return 2
    try:
        write(*map(Path, given))
    except UsageError as error:
        print(error, file=sys.stderr)
        return 2
    return 0
