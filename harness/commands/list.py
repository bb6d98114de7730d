# SPDX-License-Identifier: BSD-3-Clause
"""./bench list: what there is to run, and on what."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from analysis.text_table import plain
from harness.base import variants
from harness.base.errors import UsageError
from harness.base.mpis import MPIS, WHEEL_MPIS
from harness.commands import options
from harness.sites import systems
from reframe_checks.catalogue import LIMITS, Study, Value, by_names, groups, size_text, studies

if TYPE_CHECKING:
    from harness.sessions.space import Variable

STUDIES = "studies"  # the word for all of them
OF_THE_ENGINE = {name: f"the engine's {name}" for name in variants.numeric()}


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
    from reframe_checks.jobs import Request  # noqa: PLC0415 - the list itself does not need it

    rows = []
    for study in studies().values():
        if scale not in study.scales or not study.of_a_paper:
            continue
        jobs = Request.of([study], systems.BUILTIN["vcluster"], list(WHEEL_MPIS), [], scale, all_mpis=False).jobs()
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
    from harness.sessions.run import time_text  # noqa: PLC0415 - the list itself does not need it

    print(f"in all about {time_text(sum(row['seconds'] for row in rows))}, beside the set-up")


def _sentences(*parts: str) -> str:
    """Each with its full stop, unless it ends with a sign of its own."""
    return " ".join(part if part.endswith((".", "?", "!")) else f"{part}." for part in parts)


def _study_table(study: Study) -> str:
    """What it measures, and each parameter with its values at the scales."""
    scales = {name: study.scale(name, {}) for name in study.scales if name != "test" or len(study.scales) == 1}
    axes = dict.fromkeys(name for scale in scales.values() for grid in scale.grids for name in grid)
    told = {
        name: study.parameters[name].meaning if name in study.parameters else OF_THE_ENGINE.get(name, "")
        for name in axes
    }
    rows = [
        [name, meaning, *(_values(name, [grid.get(name, ()) for grid in scale.grids]) for scale in scales.values())]
        for name, meaning in told.items()
    ]
    rows += [
        [name, limit.meaning, *(f"{getattr(scale, name):g}" for scale in scales.values())]
        for name, limit in LIMITS.items()
        if any(getattr(scale, name) for scale in scales.values()) and not (name == "trial_factor" and study.workload)
    ]
    lines = [
        f"{study.name}: {_sentences(study.title, study.source)}",
        f"variants: {', '.join(next(iter(scales.values())).variants)}",
        plain(["--set", "what it is", *scales], rows),
    ]
    if study.workload or study.case:
        value = next((cell.split(", ")[0] for cell in rows[0][2:] if cell), "")
        lines.append(f"Example: ./bench run {study.name}" + (f" --set {rows[0][0]}={value}" if axes else ""))
    return "\n".join(lines)


def _values(name: str, grids: Iterable[Sequence[Value]]) -> str:
    """All values of an axis, each once; sizes with units, as --set takes them."""
    told = size_text if name.endswith("_bytes") else str
    return ", ".join(dict.fromkeys(told(value) for values in grids for value in values))


def _told(name: str) -> str:
    """A study; or the studies of a group, or all."""
    chosen = list(studies().values()) if name == STUDIES else by_names([name])
    if [one.name for one in chosen] == [name]:
        return _study_table(chosen[0])
    return plain(["study", "what it is"], [[one.name, _sentences(one.title, one.source)] for one in chosen])


def list_(
    name: Annotated[
        str, typer.Argument(metavar="[NAME]", help="A study, a group of them, or 'studies' for every one.")
    ] = "",
    as_json: options.Json = False,
    quick: Annotated[
        bool, typer.Option("--quick-table", help="How much each study runs at quick scale, and how long.")
    ] = False,
) -> int:
    """List the groups of studies, the systems with their MPIs, and the variants; or tell of a study or group.

    Example: ./bench list overlap-ratio
    """
    if name and (as_json or quick):
        raise UsageError(f"--json and --quick-table are of all studies: leave '{name}' out.")
    if name:
        print(_told(name))
        return 0
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
        "group": {group: _shortened(members) for group, members in found["groups"].items()},
        "system": {name: f"{s['summary']}; MPIs: {', '.join(s['mpis'])}" for name, s in found["systems"].items()},
        "variant": found["variants"],
    }
    for kind, rows_of_kind in described.items():
        print(plain([kind, "what it is"], list(rows_of_kind.items())))
    print(f"./bench list {STUDIES}: every study; ./bench list GROUP: a group's; ./bench list STUDY: its parameters.")
    return 0


def _shortened(members: list[str], shown: int = 4) -> str:
    more = f" and {len(members) - shown} more" if len(members) > shown else ""
    return f"{len(members)}: {', '.join(members[:shown])}{more}"


def tuned() -> str:
    """What ./bench tune --list prints: every variable and every setting of the engine that is tuned."""
    from harness.sessions import space as spaces  # noqa: PLC0415 - the list itself does not need it

    parts = []
    for table in spaces.tables():
        tried = "" if table.tried else " (as documented, not run here)"
        rows = [[one.name, _in_words(one)] for one in table.variables]
        head = f"{table.table}, for {', '.join(table.mpis)}{tried}. Source: {table.source}"
        parts += [head, plain(["variable", "what it is"], rows), ""]
    rows = [[name, ", ".join(values)] for name, values in spaces.ENGINE.items()]
    told = "The engine (what they mean: ./bench exec --mpi mpich -- progress-info)"
    return "\n".join([*parts, told, plain(["setting", "tried"], rows)])


def _in_words(one: Variable) -> str:
    tried = ", ".join(one.values)
    return f"{one.meaning}; default: {one.default}; range: {one.range}; tried: {tried}; read back by {one.read_back}"
