# SPDX-License-Identifier: BSD-3-Clause
"""A table as text: Markdown for documents, plain columns for a terminal. Every one that is printed is made here."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence


def markdown(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Its lines; a bar within a cell is not taken for a border, nor a line's end within one for a row's."""
    return [_line(columns), f"|{'---|' * len(columns)}", *map(_line, rows)]


def _line(cells: Sequence[object]) -> str:
    texts = (" ".join(str(cell).splitlines()).replace("|", chr(92) + "|") for cell in cells)
    return f"| {' | '.join(texts)} |"


def plain(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Columns as wide as the terminal lets them be, long cells wrapped; numbers to the right."""
    from rich.console import Console  # noqa: PLC0415 - its import takes longer than most commands
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415 - so that brackets are no markup

    listed = [list(row) for row in rows]
    table = Table(box=None, header_style="bold")
    for index, name in enumerate(columns):
        numbers = bool(listed) and all(isinstance(row[index], int | float) for row in listed)
        table.add_column(Text(name), justify="right" if numbers else "left")
    for row in listed:
        table.add_row(*(Text(str(cell)) for cell in row))
    console = Console(file=io.StringIO(), highlight=False, width=Console().width)
    console.print(table)
    said = console.file.getvalue()  # type: ignore[attr-defined]
    return "\n".join(line.rstrip() for line in said.splitlines())
