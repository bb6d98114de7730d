# SPDX-License-Identifier: BSD-3-Clause
"""./bench list: what there is to run, and on what."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from analysis.text_table import plain
from harness.base import variants
from harness.base.mpis import MPIS, WHEEL_MPIS
from harness.commands import options
from harness.sites import systems
from reframe_checks.catalogue import groups, studies


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
            for study in studies().values()
        },
        "groups": groups(),
        "systems": {
            name: {"summary": summary, "mpis": [m.name for m in MPIS.values() if m.wheels or m.installed()]}
            for name, (summary, _) in systems.SUMMARIES.items()
        },
        "mpis": {m.name: {"title": m.title, "installed": m.installed()} for m in MPIS.values()},
        "variants": variants.known(),
    }


def quick_table(scale: str = "quick") -> list[dict[str, Any]]:
    """What `./bench run all` would run at this scale: a row a study that has it, seconds as estimated."""
    from harness.sessions.request import Request  # noqa: PLC0415 - the list itself does not need it

    rows = []
    for study in studies().values():
        if scale not in study.scales or not study.of_a_paper:
            continue
        jobs = Request([study], systems.BUILTIN["vcluster"], list(WHEEL_MPIS), [], scale, all_mpis=False).jobs()
        rows.append(
            {
                "study": study.name,
                "MPIs": ", ".join(job.mpi for job in jobs),
                "variants": ", ".join(jobs[0].scale.variants),
                "launches": sum(len(job.launches) for job in jobs),
                "points": sum(len(job.points_of(launch)) for job in jobs for launch in job.launches),
                "seconds": round(sum(job.estimate_s() for job in jobs)),
            }
        )
    return rows


def _print_quick_table(rows: list[dict[str, Any]]) -> None:
    print(plain(list(rows[0]), [list(row.values()) for row in rows]))
    print(f"in all about {sum(row['seconds'] for row in rows) / 60:.1f} min, beside the set-up")


def _sentences(*parts: str) -> str:
    """Each with its full stop, unless it ends with a sign of its own."""
    return " ".join(part if part.endswith((".", "?", "!")) else f"{part}." for part in parts)


def list_(
    as_json: options.Json = False,
    quick: Annotated[
        bool, typer.Option("--quick-table", help="How much each study runs at quick scale, and how long.")
    ] = False,
) -> int:
    """List the studies, the systems with their MPIs, and the variants.

    Example: ./bench list --json
    """
    if quick:
        rows = quick_table()
        if as_json:
            print(json.dumps(rows, indent=1))
        else:
            _print_quick_table(rows)
        return 0
    found = catalogue()
    if as_json:
        print(json.dumps(found, indent=1))
        return 0
    described = {
        "study": {name: _sentences(study["title"], study["source"]) for name, study in found["studies"].items()},
        "group": {name: ", ".join(members) for name, members in found["groups"].items()},
        "system": {name: f"{s['summary']}; MPIs: {', '.join(s['mpis'])}" for name, s in found["systems"].items()},
        "variant": found["variants"],
    }
    for kind, rows_of_kind in described.items():
        print(plain([kind, "what it is"], list(rows_of_kind.items())))
    return 0
