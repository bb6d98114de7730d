# SPDX-License-Identifier: BSD-3-Clause
"""How a generated page looks: its head, tables, code, and words that Markdown would take for its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from analysis.text_table import markdown

HEAD = (
    "<!-- SPDX-License-Identifier: BSD-3-Clause -->\n<!-- Written by `python -m docs.generate`: change {source}. -->\n"
)


def page(title: str, source: str, *parts: str) -> str:
    """A whole page. `source`: where what it says is written."""
    return HEAD.format(source=source) + "\n\n".join([f"# {title}", *filter(None, parts)]) + "\n"


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; empty where there is no row."""
    listed = [[" ".join(cell.split()) for cell in row] for row in rows]
    return "\n".join(markdown(columns, listed)) if listed else ""


def code(text: str) -> str:
    """Words of the program's; nothing for nothing."""
    return f"`{text}`" if text else ""


def plain(text: str) -> str:
    """A sentence in which nothing is markup but code between backticks."""
    words, *rest = re.split(r"(`[^`]+`)", text)
    more = [plain(part) if not part.startswith("`") else part for part in rest]
    return re.sub(r"([*_<>\[\]`])", r"\\\1", words) + "".join(more)
