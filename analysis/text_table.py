# SPDX-License-Identifier: BSD-3-Clause
"""A table as text: Markdown for documents, plain columns for a terminal. Every one that is printed is made here.

And what is told, as JSON for programs.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import os
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def markdown(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Its lines; a bar within a cell is not taken for a border, nor a line's end within one for a row's."""
    return [_line(columns), f"|{'---|' * len(columns)}", *map(_line, rows)]


def _line(cells: Sequence[object]) -> str:
    texts = (" ".join(str(cell).splitlines()).replace("|", chr(92) + "|") for cell in cells)
    return f"| {' | '.join(texts)} |"


def plain(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Columns as wide as the terminal lets them be, long cells wrapped; numbers to the right. Rich's tables take
    longer than all else that a list needs."""
    listed = [list(row) for row in rows]
    right = [bool(listed) and all(isinstance(row[at], int | float) for row in listed) for at in range(len(columns))]
    texts = [list(columns), *([str(cell) for cell in row] for row in listed)]
    widths = [max(len(line) for row in texts for line in row[at].splitlines() or [""]) for at in range(len(columns))]
    room = _terminal_width() - 2 * len(columns)
    while sum(widths) > room and max(widths) > 1:
        widths[widths.index(max(widths))] -= 1
    lines: list[str] = []
    for row in texts:
        cells = [_wrapped(cell, width) for cell, width in zip(row, widths, strict=True)]
        for parts in itertools.zip_longest(*cells, fillvalue=""):
            padded = (
                part.rjust(width) if to_right else part.ljust(width)
                for part, width, to_right in zip(parts, widths, right, strict=True)
            )
            lines.append(f" {'  '.join(padded)}".rstrip())
    return "\n".join(lines)


def _wrapped(cell: str, width: int) -> list[str]:
    parts = (textwrap.wrap(line, width, break_on_hyphens=False) or [""] for line in cell.splitlines() or [""])
    return [part for some in parts for part in some]


def _terminal_width() -> int:
    """Of the terminal, though what is printed goes elsewhere; COLUMNS, if it is set."""
    if os.environ.get("COLUMNS", "").isdecimal():
        return int(os.environ["COLUMNS"])
    for descriptor in range(3):
        with contextlib.suppress(OSError):
            return os.get_terminal_size(descriptor).columns
    return 80


def json_text(content: Any) -> str:
    """For programs: a number that does not exist, or an interval's end that is not known, is null."""
    return json.dumps(_known(content), indent=1, ensure_ascii=False)


def _known(value: Any) -> Any:
    value = value._asdict() if hasattr(value, "_asdict") else value
    if isinstance(value, Mapping):
        return {name: _known(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_known(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
