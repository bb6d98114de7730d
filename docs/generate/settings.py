# SPDX-License-Identifier: BSD-3-Clause
"""The page of the engine's settings and presets, read from the table in its sources that progress-info prints, too."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from docs.generate.page import code, page, plain, table
from harness.base.paths import ROOT

SOURCE = ROOT / "progress_engine" / "src" / "policy" / "settings.cpp"
PRESETS = ROOT / "progress_engine" / "presets.json"
TABLE = re.compile(r"new std::vector<Setting>\{\n(.*?)\n  \};\n", re.DOTALL)
ROW = re.compile(r"^      (\w+)(?:<[^>]*>)?\(", re.MULTILINE)
ARGUMENT = re.compile(r'((?:"(?:[^"\\]|\\.)*"\s*)+)|(-?\d+)')
# What each function of the table takes, in its order.
TAKES = {
    "number": ("key", "unit", "minimum", "maximum", "initial", "meaning"),
    "flag": ("key", "initial", "meaning"),
    "text": ("key", "meaning"),
    "choice": ("key", "choices", "initial", "meaning"),
    "polling_points": ("key", "choices", "initial", "meaning"),
    "doorbells": ("key", "choices", "initial", "meaning"),
}
SETS = ("polling_points", "doorbells")


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

    @property
    def values(self) -> str:
        """What may be given, in words."""
        words = ", ".join(code(word) for word in self.choices.split())
        unit = f" {self.unit}" if self.unit else ""
        return {
            "number": f"{self.minimum} to {self.maximum}{unit}",
            "flag": "`0`, `1`",
            "text": "text",
            "choice": f"one of {words}",
        }.get(self.kind, f"one or several of {words}, with commas")


def settings() -> list[Setting]:
    """Every row, in the order of the table. ValueError where the sources are written in another way."""
    found = TABLE.search(SOURCE.read_text())
    if not found:
        raise ValueError(f"{SOURCE}: no table of settings in all_settings().")
    body = found[1]
    starts = list(ROW.finditer(body))
    ends = [*(start.start() for start in starts[1:]), len(body)]
    return [_row(start[1], body[start.end() : end]) for start, end in zip(starts, ends, strict=True)]


def _row(kind: str, text: str) -> Setting:
    values = ["".join(json.loads(part) for part in re.findall(r'"(?:[^"\\]|\\.)*"', words)) if words else number
              for words, number in ARGUMENT.findall(text)]  # fmt: skip
    return Setting(kind=kind, **dict(zip(TAKES[kind], values, strict=True)))


def _begun(meaning: str) -> str:
    """With a capital, unless it begins with a setting's value (safety=offload: ...), which is written as it is."""
    first = meaning.partition(" ")[0]
    return meaning if "=" in first else meaning[:1].upper() + meaning[1:]


def pages() -> dict[str, str]:
    rows = [(code(one.key), one.values, code(one.initial), plain(_begun(one.meaning))) for one in settings()]
    presets = json.loads(PRESETS.read_text())
    chosen = [
        (
            code(name),
            plain(preset["summary"]),
            plain(preset["answers"]),
            " ".join(code(f"{key}={value}") for key, value in preset["settings"].items()),
        )
        for name, preset in presets.items()
    ]
    return {
        "settings.md": page(
            "The engine's settings and presets",
            "progress_engine/src/policy/settings.cpp and progress_engine/presets.json",
            "A preset is a point in these settings, and `--variant` names it; what it does not set is as the table "
            "says. `progress-info` prints both with the values in force and where each comes from.\n\n"
            "    ./bench exec --mpi mpich -- progress-info\n"
            "    ./bench mpirun --mpi mpich --variant adaptive:burst=5:slice_us=200 -n 2 -- ./app",
            "## Presets",
            table(("preset", "what it is", "it stands for", "sets"), chosen),
            "## Settings",
            "As a variable: `PROGRESS_ENGINE_BURST=5`; in a file, of `PROGRESS_ENGINE_CONFIG` or `progress-run "
            "--config`: `burst = 5`. Variables win over the file, `--set` and what stands behind a variant's name over both.",
            table(("setting", "values", "default", "meaning"), rows),
        )
    }
