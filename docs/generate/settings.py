# SPDX-License-Identifier: BSD-3-Clause
"""The page of the engine's settings, presets and report, read from the tables in its sources."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from docs.generate.page import code, page, plain, table
from harness.base.paths import ROOT
from harness.base.variants import Setting, settings

PRESETS = ROOT / "progress_engine" / "presets.json"
FIELDS = ROOT / "progress_engine" / "src" / "telemetry" / "fields.hpp"  # one list for struct, JSON and this page
LIST = re.compile(r"^#define PE_(\w+)\(FIELD\) ((?:.*\\\n)+.*)", re.MULTILINE)
FIELD = re.compile(r'FIELD\(([\w:<>]+), (\w+), [^"]*?(?:"[^"]*", )?("(?:[^"]|"\s*")*")\)|PE_(\w+)\(FIELD\)')


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


def _fields(lists: dict[str, str], name: str, before: str = "") -> Iterator[tuple[str, str]]:
    """Each key of the report below that list, and what it means."""
    for kind, key, meaning, other in FIELD.findall(lists[name]):
        if other:
            yield from _fields(lists, other, before)
            continue
        yield code(before + key), plain("".join(re.findall(r'"([^"]*)"', meaning)))
        inner = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", re.sub(r".*<|>", "", kind)).upper()
        if inner in lists:
            yield from _fields(lists, inner, f"{before}{key}{'[]' if 'vector' in kind else ''}.")


def _report() -> list[tuple[str, str]]:
    lists = {name: body.replace("\\\n", " ") for name, body in LIST.findall(FIELDS.read_text())}
    return list(_fields(lists, "REPORT"))


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
            "The engine's settings, presets and report",
            "policy/settings.cpp and telemetry/fields.hpp in progress_engine/src, and progress_engine/presets.json",
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
            "## The report",
            "What `--report-file` writes for each rank, `pe_report_json()` returns and a record's end line holds "
            "(`end.ranks[].engine`), one JSON object. `progress-info --job FILE...` makes one sentence of such files.",
            table(("key", "meaning"), _report()),
        )
    }
