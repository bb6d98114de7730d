# SPDX-License-Identifier: BSD-3-Clause
"""./bench tune: which settings of the engine and of the MPI are best here? A search, and a winner that is confirmed."""

from __future__ import annotations

import contextlib
import importlib.util
import re
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from analysis.text_table import plain
from harness.base import variants
from harness.base.errors import Failure, UsageError, there_are
from harness.base.paths import IN_CLONE
from harness.base.process import say
from harness.base.validate import parse_settings
from harness.commands import list as list_of
from harness.commands import options, program_options
from harness.commands.run import new_session, resume_session, usable
from harness.job import read_back
from harness.job import session as sessions
from harness.job.search import COMPARED, DEFAULT, REFERENCE, Search
from harness.job.session import State
from harness.sessions import run as runs
from harness.sessions import space as spaces
from harness.sessions import tuning
from harness.sessions.run import counted
from harness.setup import environment
from harness.sites import systems
from harness.sites.systems import Request, choose_mpis, from_facts
from reframe_checks.catalogue import by_names

if TYPE_CHECKING:
    from analysis.tuning.search_records import Measured

OPTUNAS = "tpe"
OF_PROGRAM = "own-program"
BLOCK, CONFIRM = 6, 12  # rounds of a block, at least, and of the confirmation


def tune(
    context: typer.Context,
    command: Annotated[
        list[str], typer.Argument(metavar="[-- CMD...]", help="A program of one's own, instead of a study.")
    ] = [],  # noqa: B006 - Typer copies it
    study: Annotated[
        str, typer.Option("--study", metavar="STUDY", help="See ./bench list; default: overlap-ratio.")
    ] = "",
    system: program_options.SystemOfProgram = "",
    mpi: options.OneMpi = "mpich",
    space: Annotated[
        str, typer.Option("--space", metavar="engine,mpi|FILE", help="What may be changed; --list shows it.")
    ] = "engine,mpi",
    variant: options.OneVariant = "adaptive",
    objective: Annotated[
        str,
        typer.Option(
            "--objective",
            metavar="WORD",
            help="What is made better: efficiency, another metric, a recorded quantity, or time.",
        ),
    ] = "",
    subject_to: Annotated[
        list[str],
        typer.Option("--subject-to", metavar="METRIC<=X", help="What the winner must keep, as in inflation<=1.05."),
    ] = [],  # noqa: B006 - Typer copies it
    minutes: Annotated[float, typer.Option("--minutes", min=0.1, max=7 * 24 * 60, help="How long it may take.")] = 20,
    method: Annotated[
        str, typer.Option("--search", metavar="effects|tpe|random|grid", help="How new settings are proposed.")
    ] = "effects",
    places: Annotated[
        int, typer.Option("--places", min=2, max=40, help="How many settings are measured by turns.")
    ] = 6,
    seats: Annotated[int | None, typer.Option("--seats", min=2, max=40, hidden=True)] = None,  # as it was called
    scale: options.Scale = "quick",
    settings: options.Settings = [],  # noqa: B006 - Typer copies it
    nodes: options.Nodes = 2,
    seed: options.Seed = 1,
    ranks: program_options.Ranks = None,
    launcher: program_options.Launcher = "",
    time_from: program_options.TimeFrom = "",
    check: program_options.Check = "",
    timeout: program_options.Timeout = 600.0,
    list_tables: Annotated[
        bool, typer.Option("--list", help="Print the variables and settings that are known.")
    ] = False,
    resume: Annotated[str, typer.Option("--resume", metavar="SESSION", help="Go on with a stopped search.")] = "",
) -> int:
    """Look for settings that beat the default, and prove it: a search in rounds, then fresh launches of the winner.

    Every round launches the default and all settings that are not out yet. Each launch of a study verifies its
    data; results of your own program are verified only with --check. Fresh launches of the winner, at other message
    sizes, must confirm it. The session's folder tuning/ then has tuned.conf for the engine, tuned-mpi.env for the MPI,
    a list of what was tried, and figures. "Nothing beats the default" is a result, too.

    Example: ./bench tune --mpi mpich --space engine --objective efficiency --subject-to 'inflation<=1.05' --minutes 20
    """
    if list_tables:
        print(list_of.tuned())
        return 0
    if resume:
        options.allow_only(context, "resume")
        return _go_on(sessions.load(resume))
    program_options.none_without(command, context)
    if study and command:
        raise UsageError(f"--study {study} and a program of one's own: one of the two is tuned.")
    chosen = systems.by_name(program_options.system_name(system, launcher))
    name = _one_mpi(mpi, chosen)
    (found,) = by_names([study or (OF_PROGRAM if command else "overlap-ratio")])
    asked = parse_settings(settings)
    if command:
        program = program_options.named(command, name, chosen, ranks, launcher, time_from, check)
        found, asked = replace(found, program=program), {"timeout_s": str(timeout), **asked}
        if not check:
            say("without --check no result is verified: a setting that makes the program wrong may win")
    variant, measured_at = variants.check(variant), tuning.points(found, scale, asked)
    search = _asked_search(variant, measured_at, objective, subject_to, minutes, method, seats or places)
    request = Request.of([found], chosen, [name], [variant], scale, measured_at.settings, seed, nodes)
    usable(chosen)
    return _begin(request, search, space)


def _one_mpi(text: str, system: systems.System) -> str:
    names = choose_mpis(text, system)
    if len(names) != 1:
        raise UsageError(f"--mpi {text}: a search is of one MPI.")
    return names[0]


def _asked_search(
    variant: str, at: tuning.Points, objective: str, subject_to: Sequence[str], minutes: float, method: str, places: int
) -> Search:
    """The search as it is asked for; what is tuned in it is not known yet. UsageError where that cannot be measured."""
    from analysis.tuning import search_records  # noqa: PLC0415 - a second of imports

    overlap = tuning.measures_overlap(at.tuned)
    search = Search(
        variant=variant,
        objective=objective or ("efficiency" if overlap else "time"),
        bounds=_bounds(subject_to),
        minutes=minutes,
        method=_method(method),
        at_once=places,
        block_rounds=rounds_of_block(places),
        confirm=CONFIRM,
        space=[],
        points=at.tuned,
        untuned=at.untuned,
        reference=overlap,
    )
    search_records.check_words(search.objective, search.bounds, overlap)
    return search


def _go_on(session: sessions.Session) -> int:
    """With the search of a session that was stopped."""
    request = from_facts(session.facts)
    if request.asked.search is None:
        raise UsageError(f"Session {session.name} is none of ./bench tune: {runs.resuming(session)} goes on with it.")
    usable(request.system)
    _packages(request.asked.search)
    systems.set_up(request)
    with runs.measuring(request.system, session.name):
        resume_session(request, session, force=False)
        return _run(request, session)


def _packages(search: Search) -> None:
    """Have Optuna, where it is what proposes."""
    if search.method != OPTUNAS:
        return
    if IN_CLONE:
        environment.ensure_group("tune")
    elif importlib.util.find_spec("optuna") is None:
        raise UsageError("--search tpe needs Optuna, the extra `tune` of the package: pip install optuna.")


def _begin(request: Request, search: Search, space: str) -> int:
    """Set up what a search needs, and run it in a new session."""
    _packages(search)
    systems.set_up(request.but(search=search))
    (mpi,) = request.mpis
    programs = request.system.programs_of(mpi)
    _check_recorded(request, search, programs)
    found = spaces.of(space, mpi, programs, search.variant)
    if search.variant.partition(":")[0] in variants.WITHOUT_ENGINE and any(not one.of_mpi for one in found.parameters):
        raise UsageError(f"--variant {search.variant} runs without the engine, so none of its settings can be tuned.")
    search = replace(search, space=found.parameters, probes=found.probes)
    request = tuning.begin(request, search)
    _enough_time(request)
    with runs.measuring(request.system, "tune"):
        session = new_session(request, "tune", sys.argv[1:])
        return _run(request, session)


def _run(request: Request, session: sessions.Session) -> int:
    """The search and its verdict; how it ends is how the session ended, whatever its last block says of itself."""
    state: State = "incomplete"
    try:
        request = _search(request, session)
        session.finish("complete")  # so that the verdict is not of a session that is still running
        _tell(request, session)
        state = "complete"
    except KeyboardInterrupt:
        state = "interrupted"
        raise KeyboardInterrupt(f"{runs.resuming(session)} goes on with it") from None
    finally:
        with contextlib.suppress(OSError):  # a folder that takes nothing more has its own sentence
            session.finish(state)
        say(f"session: {session.path}")
    return 0


def _search(request: Request, session: sessions.Session) -> Request:
    """Block after block, until nothing is left to try or the time is up, then the confirmation."""
    if _search_of(request).blocks:  # the variables are read back, or a search that was stopped goes on
        request = tuning.run_block(request, session)
    if not _search_of(request).contenders:
        request = _ready(request, session)
    return _confirmed(_searched(request, session), session)


def _ready(request: Request, session: sessions.Session) -> Request:
    """The request behind its read-back and trial; UsageError where these leave no time for a block and its proof."""
    tried_s = tuning.trial_s(request, session)
    request = _left(request, session)
    if why := tuning.too_short(_search_of(request), tried_s or _estimated_s(request)):
        raise UsageError(why)
    tuning.store(request, session)
    return request


def _searched(request: Request, session: sessions.Session) -> Request:
    """The blocks of the search, and, if a setting leads at their end, the first rounds of its confirmation."""
    from analysis.tuning import document  # noqa: PLC0415 - a second of imports

    while not tuning.confirming(_search_of(request)):
        began = time.monotonic()
        search, found = _search_of(request), all_measured(session)
        if search.contenders and not found.scores.get(DEFAULT):
            raise Failure(
                f"The default itself cannot be measured, so nothing can be held against it: {unmeasured(found)}"
            )
        then = document.next_(found, request.asked.seed)
        search = replace(search, spent_s=search.spent_s + time.monotonic() - began)  # judging hundreds of rounds, too
        sides = 1 + search.reference + len(then.alive) + len(then.new)
        fits = tuning.fits(search, _launch_s(request, found), sides, found.with_hangs)
        if not then.over and (not search.contenders or fits):
            say(f"{_so_far(found, then.state.leader)}: {len(then.alive)} go on, {len(then.new)} new")
            search = tuning.with_block(search, then.alive, then.new)
        elif then.state.leader == DEFAULT:
            break
        else:
            say(f"{then.state.leader} leads: measuring it afresh")
            search = tuning.with_probes(search, then.state.leader)
            search = tuning.with_confirmation(search, then.state.leader)
        request = tuning.run_block(request.but(search=search), session)
    return request


def _confirmed(request: Request, session: sessions.Session) -> Request:
    """More rounds of the confirmation, if there is one, while it is undecided and there is time."""
    from analysis.tuning import confirmation  # noqa: PLC0415 - a second of imports

    while tuning.confirming(search := _search_of(request)):
        found = all_measured(session)
        failed = any(side in found.failures for side in COMPARED)
        if failed or not (confirmation.undecided(found) and tuning.more_rounds_fit(search, _launch_s(request, found))):
            break
        say("its gain is not shown yet: more rounds")
        request = tuning.run_block(request.but(search=tuning.with_more_rounds(search)), session)
    return request


def all_measured(session: sessions.Session) -> Measured:
    """What was measured so far; Failure where the last job did not come to all of its launches: a dead node or a time
    limit says nothing of the settings, and who goes on cannot be said without them."""
    from analysis.tuning import search_records  # noqa: PLC0415 - a second of imports

    found = search_records.read(session.path)
    if found.not_run:
        raise Failure(
            f"Not run: {counted(len(found.not_run), 'launch')} ({next(iter(found.not_run.values()))}):"
            f" {runs.resuming(session)} goes on with them."
        )
    return found


def unmeasured(found: Measured) -> str:
    """Why no launch of the default has a value."""
    if DEFAULT in found.failures:
        return found.failures[DEFAULT]
    why = found.failures.get(REFERENCE, "")
    return f"none of its launches was measured with its reference{why and f', which failed: {why}'}"


def _left(request: Request, session: sessions.Session) -> Request:
    """The request without those variables that the MPI does not take; Failure where it was not asked of all."""
    search = _search_of(request)
    if not search.probes:
        return request
    if lacking := read_back.unasked(search.probes, session.folders.logs, request.mpis[0]):
        raise Failure(
            f"The job ended before the MPI was asked of {len(lacking)} variables, {lacking[0]} the first:"
            f" {runs.resuming(session)} goes on with them."
        )
    found = tuning.taken(search, session, request.mpis[0])
    for name, (yes, why) in found.items():
        if not yes:
            say(f"left out: {name}, not shown to have taken effect ({why})")
    return request.but(search=tuning.without_untaken(search, found))


def _search_of(request: Request) -> Search:
    assert request.asked.search is not None
    return request.asked.search


def _launch_s(request: Request, found: Measured) -> float:
    """How long a launch takes: measured, else by its estimate."""
    return found.seconds or _estimated_s(request)


def _estimated_s(request: Request) -> float:
    """About how long a launch of a study takes, at the points that are tuned."""
    every = request.studies[0].scale(request.scale, request.asked.settings).points()
    share = len(_search_of(request).points) / max(1, len(every))
    return share * request.jobs()[0].launch_estimate_s()


def _so_far(found: Measured, leader: str) -> str:
    rounds = sum(block.rounds for block in found.asked.searched)
    return f"{rounds} rounds, {len(found.asked.contenders)} settings tried, {leader} leads" if rounds else "first block"


def _enough_time(request: Request) -> None:
    """UsageError where not even one block and the confirmation fit; a program of one's own is tried first."""
    if not request.asked.program and (why := tuning.too_short(_search_of(request), _estimated_s(request))):
        raise UsageError(why)


def _tell(request: Request, session: sessions.Session) -> None:
    """The verdict and its files."""
    from analysis.figures.render import save  # noqa: PLC0415 - a second of imports
    from analysis.tuning import confirmation, document, figures, search_records  # noqa: PLC0415

    search, found = _search_of(request), search_records.read(session.path)
    told, taken = confirmation.of(found), tuning.taken(search, session, request.mpis[0])
    notes = document.of(found, told.values, taken)
    files = tuning.write_result(search, session, told.values, told.sentence, notes)
    folder = session.path / tuning.FOLDER
    for name, text in {"tuning.md": document.document, "tuning.json": document.as_json}.items():
        (folder / name).write_text(text(found, told, taken))
    for drawn in figures.draw(found):
        save(drawn, folder / "figures")
    print(told.sentence)
    columns, rows = document.front(found)
    if rows:
        print(f"\n{plain(columns, rows)}\n")
    say(f"what was tried: {folder / 'tuning.md'}")
    if told.confirmed:
        preset = search.variant.partition(":")[0]
        with_engine = "" if preset in variants.WITHOUT_ENGINE else f" --variant {preset}:@{files[0]}"
        say(f"to run with it: ./bench run STUDY{with_engine} --mpi-env {files[1]}")


def _check_recorded(request: Request, search: Search, programs: Path) -> None:
    """UsageError where the objective is a quantity that the study, as far as its program tells, does not record."""
    from analysis.records.read import declared  # noqa: PLC0415 - a second of imports
    from analysis.tuning import search_records  # noqa: PLC0415

    if known := tuning.recorded(request.studies[0], programs):
        search_records.check_recorded(search.objective, declared({"quantities": known}), search.reference)


def rounds_of_block(places: int) -> int:
    """Rounds of a block: as many as it takes to put one of so many settings out."""
    from analysis.tuning import elimination  # noqa: PLC0415 - a second of imports

    return max(BLOCK, elimination.fewest_rounds(places))


def _method(text: str) -> str:
    from analysis.tuning.proposals import SEARCHES  # noqa: PLC0415 - a second of imports

    if text not in SEARCHES:
        raise UsageError(f"There is no search '{text}'. {there_are(text, SEARCHES)}")
    return text


def _bounds(texts: Sequence[str]) -> dict[str, float]:
    found = {}
    for text in texts:
        said = re.fullmatch(r"\s*(\w+)\s*<=\s*(\d+(?:\.\d+)?)\s*", text)
        if not said:
            raise UsageError(f"--subject-to {text}: METRIC<=NUMBER is wanted, as in inflation<=1.05.")
        found[said[1]] = float(said[2])
    return found
