# SPDX-License-Identifier: BSD-3-Clause
"""The engine's settings, read from the table in its sources that progress-info prints, too. Standard library only.

The sources are there wherever the harness is, in a clone and in an installed package; a built progress-info is not.
"""

from __future__ import annotations

import functools
import json
import re
from dataclasses import dataclass

from harness.base.paths import ROOT

SOURCE = ROOT / "progress_engine" / "src" / "policy" / "settings.cpp"
TABLE = re.compile(r"new std::vector<Setting>\{\n(.*?)\n  \};\n", re.DOTALL)
ROW = re.compile(r"^      (\w+)(?:<[^>]*>)?\(", re.MULTILINE)
ARGUMENT = re.compile(r'((?:"(?:[^"\\]|\\.)*"\s*)+)|(-?\d+)')
NUMBER = "number"
# What each function of the table takes, in its order.
TAKES = {
    NUMBER: ("key", "unit", "minimum", "maximum", "initial", "meaning"),
    "flag": ("key", "initial", "meaning"),
    "text": ("key", "meaning"),
    "choice": ("key", "choices", "initial", "meaning"),
    "polling_points": ("key", "choices", "initial", "meaning"),
    "doorbells": ("key", "choices", "initial", "meaning"),
}


@dataclass(frozen=True)
class Setting:
    """A row of the engine's table. `kind`: the function that makes it."""

    kind: str
    key: str
    meaning: str
    initial: str = ""
    unit: str = ""
    minimum: str = ""
    maximum: str = ""
    choices: str = ""


@functools.cache
def settings() -> tuple[Setting, ...]:
    """Every row, in the order of the table. ValueError where the sources are written in another way."""
    found = TABLE.search(SOURCE.read_text())
    if not found:
        raise ValueError(f"{SOURCE}: no table of settings in all_settings().")
    body = found[1]
    starts = list(ROW.finditer(body))
    ends = [*(start.start() for start in starts[1:]), len(body)]
    return tuple(_row(start[1], body[start.end() : end]) for start, end in zip(starts, ends, strict=True))


def _row(kind: str, text: str) -> Setting:
    values = ["".join(json.loads(part) for part in re.findall(r'"(?:[^"\\]|\\.)*"', words)) if words else number
              for words, number in ARGUMENT.findall(text)]  # fmt: skip
    return Setting(kind=kind, **dict(zip(TAKES[kind], values, strict=True)))


def numeric() -> dict[str, tuple[int, int]]:
    """The settings that are numbers, which are those that can be swept: key -> its smallest and its largest value."""
    return {one.key: (int(one.minimum), int(one.maximum)) for one in settings() if one.kind == NUMBER}
