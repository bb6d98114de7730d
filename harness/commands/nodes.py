# SPDX-License-Identifier: BSD-3-Clause
"""./bench nodes: which node of an allocation, or link between two of them, is slower than the others?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from harness.base.errors import NOT_TOLD, UsageError
from harness.commands import options, tables
from harness.commands.tables import Group
from harness.job.session import Facts
from harness.sessions.request import Request, choose_mpis, from_facts
from harness.sites import systems
from reframe_checks import catalogue

STUDY = "node-pairs"
SPARE = 4  # launches beyond the fewest that can show anything: a place is still named that is not slow in three
Launches = Annotated[
    int | None,
    typer.Option(
        "--launches",
        min=1,
        help=f"How many launches; default: {SPARE} more than the fewest that can name a place.",
    ),
]
Table = Annotated[
    str, typer.Option("--table", metavar="SESSION", help="Measure nothing: only the table of this session.")
]


def nodes(
    context: typer.Context,
    system: options.System = "vcluster",
    number: Annotated[int, typer.Option("--nodes", min=2, max=4096, help="How many nodes.")] = 4,
    mpi: options.OneMpi = "mpich",
    launches: Launches = None,
    seed: options.Seed = 1,
    resume: tables.Resume = "",
    force: tables.Force = False,
    table: Table = "",
    json: options.Json = False,
    out: tables.Out = None,
) -> int:
    """Name the nodes that compute slower than the others, and the slow links between two nodes.

    Every node computes alone, and every two of them exchange messages. Pairs do so side by side: n nodes take n - 1
    rounds, or n if n is odd. What is named is shown to be slower than the middle of the others by more than 5 %.

    Exit status 0: nothing is slower. 3: something is named, or there were too few launches to name anything. 1: a
    launch failed. 2: a wrong call.

    Example: ./bench nodes --system site.py --nodes 16
    """
    tables.check_call(context, table, resume, out, beside=["json"])
    group = Group("nodes", partial(_tell, json=json), _has, report=False)
    return group.run(lambda: _request(system, number, mpi, launches, seed), table, resume, force, out)


def _request(system: str, number: int, mpi: str, launches: int | None, seed: int) -> Request:
    from analysis.gate.slow_nodes import rounds_wanted  # noqa: PLC0415 - a second of imports

    chosen, studies = systems.by_name(system), catalogue.by_names([STUDY])
    settings = {"round": ",".join(map(str, range(number - 1 + number % 2)))}
    request = Request.of(studies, chosen, choose_mpis(mpi, chosen), [], settings=settings, seed=seed, nodes=number)
    tests = _tests(studies[0].scale(request.scale, settings).points(), number)
    wanted = launches or SPARE + rounds_wanted(tests)
    return request.but(settings={"launches": str(wanted), **settings})


def _tests(points: Sequence[Mapping[str, Any]], number: int) -> int:
    """How many places are measured in all, see analysis.gate.slow_nodes.tests: two nodes have one link, which is held
    against no other."""
    links = number * (number - 1) // 2 if number > 2 else 0
    return number * len({one["work"] for one in points}) + links * len({one["size_bytes"] for one in points})


def _tell(paths: list[Path], json: bool) -> tuple[str, int]:
    from analysis.gate import slow_nodes  # noqa: PLC0415 - a second of imports

    if len(paths) != 1:
        raise UsageError("One session is told of at a time: --table SESSION.")
    found = slow_nodes.read(paths[0])
    status = 1 if not found.measured else NOT_TOLD if found.odd or found.too_few else 0
    return slow_nodes.as_json(found) if json else slow_nodes.as_markdown(found), status


def _has(facts: Facts) -> bool:
    return [study.name for study in from_facts(facts).studies] == [STUDY]
