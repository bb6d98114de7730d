# SPDX-License-Identifier: BSD-3-Clause
"""./bench list: what there is to run, and on what."""

from __future__ import annotations

import json
from typing import Any

from rich.console import Console
from rich.table import Table

from harness import systems, variants
from harness.commands import options
from harness.mpis import MPIS
from reframe_checks.study_table import GROUPS, STUDIES


def catalogue() -> dict[str, Any]:
    """Studies, groups, systems, MPIs and variants."""
    return {
        "studies": {
            study.name: {
                "title": study.title,
                "source": study.source,
                "scales": list(study.scales),
                "parameters": {name: parameter.meaning for name, parameter in study.parameters.items()},
            }
            for study in STUDIES.values()
        },
        "groups": GROUPS,
        "systems": {
            system.name: {
                "summary": system.summary,
                "mpis": [m.name for m in MPIS.values() if m.wheels or m.installed()],
            }
            for system in systems.BUILTIN.values()
        },
        "mpis": {m.name: {"title": m.title, "installed": m.installed()} for m in MPIS.values()},
        "variants": variants.known(),
    }


def list_(as_json: options.Json = False) -> int:
    """List the studies, the systems with their MPIs, and the variants.

    Example: ./bench list --json
    """
    found = catalogue()
    if as_json:
        print(json.dumps(found, indent=1))
        return 0
    console = Console(highlight=False)
    studies = {name: f"{study['title']} {study['source']}." for name, study in found["studies"].items()}
    console.print(_table("study", studies))
    console.print(_table("group", {name: ", ".join(members) for name, members in GROUPS.items()}))
    described = {name: f"{s['summary']}; MPIs: {', '.join(s['mpis'])}" for name, s in found["systems"].items()}
    console.print(_table("system", described))
    console.print(_table("variant", found["variants"]))
    return 0


def _table(kind: str, rows: dict[str, str]) -> Table:
    table = Table(kind, "what it is", box=None, header_style="bold", title_justify="left")
    for name, words in rows.items():
        table.add_row(name, words)
    return table
