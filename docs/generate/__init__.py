# SPDX-License-Identifier: BSD-3-Clause
"""The pages of docs/reference that are made from what they describe: `python -m docs.generate`, or with `--check`.

A file here makes the pages of its sources, as a function `pages()`: name in docs/reference -> text. Those of the
commands are no files of the repository: `./bench docs` makes them for the site, since `--help` says the same.
"""

from __future__ import annotations

from docs.generate import pages, settings
from harness.base.paths import ROOT

FOLDER = ROOT / "docs" / "reference"
SOURCES = (settings, pages)


def everything() -> dict[str, str]:
    """Every generated page: its name in docs/reference -> its text."""
    return {name: text for source in SOURCES for name, text in source.pages().items()}


def differing() -> list[str]:
    """The generated pages that are not as they would be made now."""
    return [name for name, text in everything().items() if not is_as(name, text)]


def is_as(name: str, text: str) -> bool:
    file = FOLDER / name
    return file.is_file() and file.read_text() == text
