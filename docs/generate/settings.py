# SPDX-License-Identifier: BSD-3-Clause
"""The page of the engine's settings and presets, read from the table in its sources that progress-info prints, too."""

from __future__ import annotations

import json

from docs.generate.page import code, page, plain, table
from harness.base.paths import ROOT
from harness.base.variants import Setting, settings

PRESETS = ROOT / "progress_engine" / "presets.json"


def _values(one: Setting) -> str:
    """What may be given, in words."""
    words = ", ".join(code(word) for word in one.choices.split())
    unit = f" {one.unit}" if one.unit else ""
    return {
        "number": f"{one.minimum} to {one.maximum}{unit}",
        "flag": "`0`, `1`",
        "text": "text",
        "choice": f"one of {words}",
    }.get(one.kind, f"one or several of {words}, with commas")


def _begun(meaning: str) -> str:
    """With a capital, unless it begins with a setting's value (safety=offload: ...), which is written as it is."""
    first = meaning.partition(" ")[0]
    return meaning if "=" in first else meaning[:1].upper() + meaning[1:]


def pages() -> dict[str, str]:
    rows = [(code(one.key), _values(one), code(one.initial), plain(_begun(one.meaning))) for one in settings()]
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
            "--config`: `burst = 5`. Variables win over the file, `--set` and what stands behind a variant's name over "
            "both.",
            table(("setting", "values", "default", "meaning"), rows),
        )
    }
