# SPDX-License-Identifier: BSD-3-Clause
"""Commands that measure a group of studies and tell one table: harm, engine-costs, nodes, scaling.

Each says here what is asked for, which sessions are its own, and what its table is; harness.commands.measuring does the
rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from analysis.budgets import BASE, CALL_VARIANTS, PARTS, PROFILED
from harness.base.errors import NOT_TOLD, Failure, UsageError, there_are
from harness.base.mpis import MPIS
from harness.base.process import say
from harness.base.validate import parse_list, parse_settings
from harness.base.variants import choose_variants, polls
from harness.commands import measuring, options
from harness.commands.measuring import Group
from harness.commands.run import describe
from harness.job import session as sessions
from harness.job.engine_benchmarks import CountedPart, Part
from harness.job.session import Costs, Facts
from harness.setup import build, environment
from harness.sites import systems
from harness.sites.systems import Request, choose_mpis, from_facts
from reframe_checks import catalogue, jobs
from reframe_checks.catalogue import Study
from reframe_checks.studies.scaling import OF_RANKS

OF_HARM = "harm"
BARE, ADAPTIVE = "bare", "adaptive"


def harm(
    context: typer.Context,
    mpi: options.Mpis = "",
    variant: Annotated[
        str,
        typer.Option(
            "--variant", metavar="V,...", help="Default: the presets that poll. With settings: V:key=value:key=value."
        ),
    ] = "",
    only: Annotated[str, typer.Option("--only", metavar="WORDS", help="Workloads whose names hold these words.")] = "",
    system: options.System = "vcluster",
    scale: measuring.Scale = "quick",
    launches: options.Launches = None,
    seed: options.Seed = 1,
    list_only: Annotated[bool, typer.Option("--list", help="The plan with its points; run nothing.")] = False,
    resume: measuring.Resume = "",
    force: measuring.Force = False,
    table: measuring.TableOf = "",
    out: measuring.Out = None,
) -> int:
    """Does the engine slow workloads down? Each launch pauses it in one of each two repetitions and is compared with
    itself; where it does not poll, launches are compared with those of bare. Exit status 1 if adaptive harms a workload
    or a launch failed, 3 if of some it cannot be told.

    It is `./bench run harm` with a table at its end: a session like any other, which can be resumed and reported.

    Example: ./bench harm --mpi mpich --variant adaptive --only overlap
    """
    measuring.check_call(context, table, resume, out)

    def asked() -> Request:
        chosen, names = systems.by_name(system), choose_variants(variant)
        return Request.of(
            studies=_with_words(only),
            system=chosen,
            mpis=choose_mpis(mpi, chosen),
            variants=names if all(map(polls, names)) else list(dict.fromkeys([BARE, *names])),
            scale=scale,
            settings={"launches": str(launches)} if launches else {},
            seed=seed,
            all_mpis=bool(mpi),
        )

    return HARM.run(asked, table, resume, force, out, _plan_of_harm if list_only else None)


def _with_words(only: str) -> list[Study]:
    """The studies of the group whose workloads' names hold these words."""
    every = catalogue.by_names([OF_HARM])
    found = [study for study in every if only in " ".join(study.workload)]
    if not found:
        names = ", ".join(" ".join(study.workload) for study in every)
        raise UsageError(f"No workload's name holds '{only}'. There are: {names}.")
    return found


def _plan_of_harm(request: Request) -> str:
    points = {
        " ".join(study.workload): [dict(point) for point in study.scale(request.scale, request.asked.settings).points()]
        for study in request.studies
    }
    return "\n".join([*(f"{name}: {', '.join(map(str, found))}" for name, found in points.items()), describe(request)])


def _tell_harm(paths: list[Path]) -> tuple[str, int]:
    """The table; status 1 if adaptive harms a workload, 3 if of some it cannot be told."""
    from analysis.studies.harm import document, harmed, pooled_words, undecided  # noqa: PLC0415 - a second of imports
    from analysis.tables import rows  # noqa: PLC0415

    evidence = measuring.evidence_of(paths)
    measured = rows(evidence)
    if not measured:
        raise UsageError(f"{', '.join(path.name for path in paths)}: no workload of ./bench harm was run there.")
    found = harmed(measured, ADAPTIVE)
    for name in found:
        say(f"{ADAPTIVE} harms {name}")
    if over_all := pooled_words(measured, ADAPTIVE):
        say(f"{ADAPTIVE}: {over_all}")
    if left := undecided(measured, ADAPTIVE):
        say(f"{ADAPTIVE}: {left}")
    return document(evidence), 1 if found else 3 if left else 0


def _has_harm(facts: Facts) -> bool:
    return all(study.group == OF_HARM for study in from_facts(facts).studies)


HARM = Group("harm", _tell_harm, _has_harm)


OF_COSTS = "costs"
BENCHMARKS = {
    "core": Part("core", "engine_core_costs", ("",)),
    "calls": Part("calls", "engine_call_costs", (BASE, *CALL_VARIANTS), PROFILED),
    "instructions": CountedPart("instructions", "engine_call_costs", (BASE, *CALL_VARIANTS), PROFILED),
}
BENCHMARK_LAUNCHES = 6  # where none are named
OWN = ("vcluster", "local")  # systems that are this machine: where the harness's own builds run


def engine_costs(
    context: typer.Context,
    part: Annotated[str, typer.Option("--part", metavar="P,...", help=f"Of {', '.join(PARTS)}; default: all.")] = "",
    mpi: options.Mpis = "",
    system: options.System = "local",
    scale: measuring.Scale = "quick",
    launches: options.Launches = None,
    seed: options.Seed = 1,
    resume: measuring.Resume = "",
    force: measuring.Force = False,
    table: measuring.TableOf = "",
    out: measuring.Out = None,
) -> int:
    """Measure the engine's costs and write the table of its budgets, as Markdown. Exit status 1 if a launch failed.

    Example: ./bench engine-costs --part calls,ping-pong --mpi mpich --out costs.md
    """
    measuring.check_call(context, table, resume, out)
    costs = Costs([] if table or resume else _parts(part), launches or BENCHMARK_LAUNCHES)

    def asked() -> Request:
        chosen = _this_machine(system)
        mpis = choose_mpis(mpi, chosen)
        _can_count(costs.parts, named=bool(part))
        return Request.of(
            studies=catalogue.by_names([OF_COSTS]) if "ping-pong" in costs.parts else [],
            system=chosen,
            mpis=mpis,
            variants=[],
            scale=scale,
            settings={"launches": str(launches)} if launches else {},
            seed=seed,
            all_mpis=bool(mpi),
        )

    return replace(COSTS, first=partial(_run_benchmarks, costs)).run(asked, table, resume, force, out)


def _this_machine(name: str) -> systems.System:
    chosen = systems.by_name(name)
    if chosen.name not in OWN:
        raise UsageError(f"./bench engine-costs runs on {' or '.join(OWN)}, not on {chosen.name}.")
    return chosen


def _parts(text: str) -> list[str]:
    parts = parse_list(text) or list(PARTS)
    for name in parts:
        if name not in PARTS:
            raise UsageError(f"There is no part '{name}'. {there_are(name, PARTS)}")
    return parts


def _can_count(parts: list[str], named: bool) -> None:
    """Have what counts instructions installed; where that fails, they are no part, unless they were `named`."""
    if "instructions" not in parts:
        return
    try:
        environment.ensure_packages("instruction counts")
    except Failure as failure:
        if named:
            raise
        say(f"{failure}\nInstructions are not counted.")
        parts.remove("instructions")


def _run_benchmarks(asked: Costs, request: Request, session: sessions.Session) -> None:
    from analysis.studies.costs import FOLDER  # noqa: PLC0415 - a second of imports

    session.facts.costs = costs = session.facts.costs or asked
    session.save()
    for mpi in request.mpis if set(costs.parts) & set(BENCHMARKS) else []:
        build.ensure(MPIS[mpi], "progress_engine/all", "engine_benchmarks", jobs.PROFILER)
    for name, part in BENCHMARKS.items():
        if name not in costs.parts:
            continue
        for mpi in request.mpis if any(part.variants) else request.mpis[:1]:
            say(f"measuring {name}{f' on {mpi}' if any(part.variants) else ''} ...")
            part.keep(MPIS[mpi], costs.launches, request.asked.seed, session.path / FOLDER)


def _tell_costs(paths: list[Path]) -> tuple[str, int]:
    from analysis.studies.costs import document, pieces  # noqa: PLC0415 - a second of imports

    evidence = measuring.evidence_of(paths)
    if not pieces(evidence):
        raise UsageError(f"{', '.join(path.name for path in paths)}: no part of ./bench engine-costs was run there.")
    return document(evidence), 0


COSTS = Group("engine-costs", _tell_costs, lambda facts: facts.costs is not None)


PAIRS = "node-pairs"
SPARE = 4  # launches beyond the fewest that can show anything: a place is still named that is not slow in three
Launches = Annotated[
    int | None,
    typer.Option(
        "--launches", min=1, help=f"How many launches; default: {SPARE} more than the fewest that can name a place."
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
    resume: measuring.Resume = "",
    force: measuring.Force = False,
    table: Table = "",
    json: options.Json = False,
    out: measuring.Out = None,
) -> int:
    """Name the nodes that compute slower than the others, and the slow links between two nodes.

    Every node computes alone, and every two of them exchange messages. Pairs do so side by side: n nodes take n - 1
    rounds, or n if n is odd. What is named is shown to be slower than the middle of the others by more than 5 %.

    Exit status 0: nothing is slower. 3: something is named, or there were too few launches to name anything. 1: a
    launch failed. 2: a wrong call.

    Example: ./bench nodes --system site.py --nodes 16
    """
    measuring.check_call(context, table, resume, out, beside=["json"])
    group = Group("nodes", partial(_tell_nodes, json=json), _has_nodes, report=False)
    return group.run(lambda: _of_nodes(system, number, mpi, launches, seed), table, resume, force, out)


def _of_nodes(system: str, number: int, mpi: str, launches: int | None, seed: int) -> Request:
    from analysis.gate.slow_nodes import rounds_wanted  # noqa: PLC0415 - a second of imports

    chosen, studies = systems.by_name(system), catalogue.by_names([PAIRS])
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


def _tell_nodes(paths: list[Path], json: bool) -> tuple[str, int]:
    from analysis.gate import slow_nodes  # noqa: PLC0415 - a second of imports

    if len(paths) != 1:
        raise UsageError("One session is told of at a time: --table SESSION.")
    found = slow_nodes.read(paths[0])
    status = 1 if not found.measured else NOT_TOLD if found.slow or found.too_few else 0
    return slow_nodes.as_json(found) if json else slow_nodes.as_markdown(found), status


def _has_nodes(facts: Facts) -> bool:
    return [study.name for study in from_facts(facts).studies] == [PAIRS]


OF_SCALING = "scaling"
MOST = 4096
# Where --ranks does not say: group -> numbers of ranks. Settings are many launches each.
RANKS = {OF_SCALING: tuple(2**power for power in range(1, 13)), "wakes": (2, 16, 128, 1024)}
# Up to how many ranks a study is run by itself: beyond, it is minutes a point.
FEWER = {"scaling-fft": 128}


def scaling(
    context: typer.Context,
    studies: Annotated[
        list[str],
        typer.Argument(
            metavar="[STUDY|GROUP...]", help="Default: the group scaling.", autocompletion=options.complete_studies
        ),
    ] = [],  # noqa: B006 - Typer copies it
    ranks: Annotated[str, typer.Option("--ranks", metavar="N,...", help="Default: 2 to 4096, doubled.")] = "",
    mpi: options.OneMpi = "mpich",
    variant: options.Variants = "",
    settings: options.Settings = [],  # noqa: B006 - Typer copies it
    launches: Annotated[int, typer.Option("--launches", min=1, help="A variant.")] = 1,
    seed: options.Seed = 1,
    list_only: Annotated[bool, typer.Option("--list", help="The plan; run nothing.")] = False,
    table: measuring.TableOf = "",
    out: measuring.Out = None,
) -> int:
    """Predict studies on many numbers of simulated ranks: sessions for each number, and a table of all of them.

    Group scaling: a message, halos and an Iallreduce with the same work on each rank; halos of one grid cut smaller,
    and an FFT of one size. Group wakes: the engine's settings. Nothing is measured, a model says it all;
    OVERLAP_BENCH_MODEL chooses which. The first launch takes the middle of the model's intervals, each further one
    draws from them. ./bench report draws the figures.

    Example: ./bench scaling scaling-halo --ranks 2,64,1024
    """
    measuring.check_call(context, table, "", out)
    if table:
        return SCALING.told(measuring.named(table), out)
    names = studies or [OF_SCALING]
    more = {"launches": str(launches)} | parse_settings(settings)
    requests = [
        _of_ranks(found, number, mpi, choose_variants(variant), own | more, seed)
        for number in _numbers(ranks, names)
        for found, own in _alike([name for name in _names(names) if ranks or number <= FEWER.get(name, MOST)], number)
    ]
    if list_only:
        print("\n".join(f"{request.asked.nodes} ranks:\n{describe(request)}" for request in requests))
        return 0
    measured = [SCALING.measure(request, hint=f"{OF_SCALING}-{request.asked.nodes}") for request in requests]
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
        return list(next((RANKS[name] for name in names if name in RANKS), RANKS[OF_SCALING]))
    words = parse_list(ranks)
    wrong = [word for word in words if not (word.isdecimal() and 2 <= int(word) <= MOST)]
    if wrong or not words:
        raise UsageError(f"--ranks {ranks}: numbers from 2 to {MOST} are wanted, as in --ranks 2,64,1024.")
    return sorted(set(map(int, words)))


def _of_ranks(
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


def _tell_scaling(paths: list[Path]) -> tuple[str, int]:
    from analysis.scaling_table import document  # noqa: PLC0415 - a second of imports

    return document(measuring.evidence_of(paths)), 0


SCALING = Group("scaling", _tell_scaling, report=False)
