# SPDX-License-Identifier: BSD-3-Clause
"""./bench scaling: what a model predicts over the number of ranks, a session for each number, and a table of all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from harness.base.errors import UsageError
from harness.base.steps import say
from harness.commands import options, tables, values
from harness.commands.run import describe
from harness.commands.tables import Group
from harness.sessions.request import Request, choose_mpis, choose_variants, parse_list, parse_settings
from harness.sites import systems
from reframe_checks import catalogue
from reframe_checks.studies.scaling import OF_RANKS

GROUP = "scaling"
MOST = 4096
# Where --ranks does not say: group -> numbers of ranks. Settings are many launches each.
RANKS = {GROUP: tuple(2**power for power in range(1, 13)), "wakes": (2, 16, 128, 1024)}
# Up to how many ranks a study is run by itself: beyond, it is minutes a point.
FEWER = {"scaling-fft": 128}


def scaling(
    context: typer.Context,
    studies: Annotated[
        list[str],
        typer.Argument(metavar="[STUDY|GROUP...]", help="Default: the group scaling.", autocompletion=values.studies),
    ] = [],  # noqa: B006 - Typer copies it
    ranks: Annotated[str, typer.Option("--ranks", metavar="N,...", help="Default: 2 to 4096, doubled.")] = "",
    mpi: options.OneMpi = "mpich",
    variant: options.Variants = "",
    settings: options.Settings = [],  # noqa: B006 - Typer copies it
    launches: Annotated[int, typer.Option("--launches", min=1, help="A variant.")] = 1,
    seed: options.Seed = 1,
    list_only: Annotated[bool, typer.Option("--list", help="The plan; run nothing.")] = False,
    table: tables.TableOf = "",
    out: tables.Out = None,
) -> int:
    """Predict studies on many numbers of simulated ranks: sessions for each number, and a table of all of them.

    Group scaling: a message, halos and an Iallreduce with the same work on each rank; halos of one grid cut smaller,
    and an FFT of one size. Group wakes: the engine's settings. Nothing is measured, a model says it all;
    OVERLAP_BENCH_MODEL chooses which. The first launch takes the middle of the model's intervals, each further one
    draws from them. ./bench report draws the figures.

    Example: ./bench scaling scaling-halo --ranks 2,64,1024
    """
    tables.check_call(context, table, "", out)
    if table:
        return SCALING.told(tables.named(table), out)
    names = studies or [GROUP]
    more = {"launches": str(launches)} | parse_settings(settings)
    requests = [
        _request(found, number, mpi, choose_variants(variant), own | more, seed)
        for number in _numbers(ranks, names)
        for found, own in _alike([name for name in _names(names) if ranks or number <= FEWER.get(name, MOST)], number)
    ]
    if list_only:
        print("\n".join(f"{request.asked.nodes} ranks:\n{describe(request)}" for request in requests))
        return 0
    measured = [SCALING.measure(request, hint=f"{GROUP}-{request.asked.nodes}") for request in requests]
    paths = [path for path, _ in measured]
    say(f"the figures: ./bench report {' '.join(path.name for path in paths)}")
    return max(SCALING.told(paths, out), *(status for _, status in measured))


def _names(names: list[str]) -> list[str]:
    return [study.name for study in catalogue.by_names(names)]


def _alike(names: list[str], ranks: int) -> Iterator[tuple[list[str], dict[str, str]]]:
    """Studies that one session can have, as they take the same settings, with these."""
    if usual := [name for name in names if name not in OF_RANKS]:
        yield usual, {}
    yield from (([name], OF_RANKS[name](ranks)) for name in names if name in OF_RANKS)


def _numbers(ranks: str, names: list[str]) -> list[int]:
    """The numbers of ranks, each once and in order."""
    if not ranks:
        return list(next((RANKS[name] for name in names if name in RANKS), RANKS[GROUP]))
    words = parse_list(ranks)
    wrong = [word for word in words if not (word.isdecimal() and 2 <= int(word) <= MOST)]
    if wrong or not words:
        raise UsageError(f"--ranks {ranks}: numbers from 2 to {MOST} are wanted, as in --ranks 2,64,1024.")
    return sorted(set(map(int, words)))


def _request(
    names: list[str], ranks: int, mpi: str, variants: list[str], settings: dict[str, str], seed: int
) -> Request:
    system = systems.by_name("simulated")
    request = Request.of(
        studies=catalogue.by_names(names),
        system=system,
        mpis=choose_mpis(mpi, system),
        variants=variants,
        settings=settings,
        seed=seed,
        nodes=ranks,
    )
    alone = [study.name for study in request.studies if study.tasks(ranks) != ranks]
    if alone:
        raise UsageError(f"Study {alone[0]} has its own number of ranks: there is nothing to scale.")
    return request


def _tell(paths: list[Path]) -> tuple[str, int]:
    from analysis.scaling import document  # noqa: PLC0415 - a second of imports

    return document(tables.evidence_of(paths)), 0


SCALING = Group("scaling", _tell, report=False)
