# SPDX-License-Identifier: BSD-3-Clause
"""The two ways a command ends badly, and with which status a failure ends, or a stop.

The message is the sentence that the user reads: what was wrong, where, what would be right. Standard library only: the
set-up uses it before any package is installed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Sequence

FAILED, NOT_TOLD = 1, 3
INTERRUPTED = 130  # as shells say it of a Ctrl-C
SHOWN = 3  # names that may be meant
GATE = "gate"  # of which 1 says that the candidate is slower: a failure of its own must not say so


class UsageError(Exception):
    """What was asked for cannot be done as asked: exit status 2."""


class Failure(Exception):  # noqa: N818 - the field's word; it is not a programming error
    """Something that should have worked did not: exit status 1, of ./bench gate 3."""


def meant(name: str, known: Iterable[str]) -> str:
    """ "Is mpich meant? " for MPCH, behind the sentence that there is no such name; empty where none is like it."""
    import difflib  # noqa: PLC0415 - 5 ms of imports

    lower = {one.lower(): one for one in known}
    near = [lower[one] for one in difflib.get_close_matches(name.lower(), lower, SHOWN)]
    return f"Is {' or '.join(near)} meant? " if near else ""


def there_are(name: str, known: Collection[str]) -> str:
    """The same, with the names that there are: "Is mpich meant? There are: mpich, openmpi."."""
    return f"{meant(name, known)}There are: {', '.join(known)}."


def failed(arguments: Sequence[str]) -> int:
    """The status of a call that failed; `arguments`: of ./bench."""
    command = next((word for word in arguments if not word.startswith("-")), "")
    return NOT_TOLD if command == GATE else FAILED


def defect(arguments: Sequence[str]) -> int:
    """The status of a call that the exception ended which is being handled. Nobody expected it: its traceback is
    printed, if stderr is still there."""
    import traceback  # noqa: PLC0415 - 10 ms of imports

    with contextlib.suppress(OSError):
        traceback.print_exc()
    return failed(arguments)
