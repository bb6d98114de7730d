# SPDX-License-Identifier: BSD-3-Clause
"""./bench gate: may this change be merged? Baseline and candidate by turns in one allocation, until that is known."""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from analysis import errors as of_analysis
from harness.base.errors import NOT_TOLD, UsageError
from harness.base.paths import python, results_dir
from harness.base.process import say
from harness.base.validate import parse_settings
from harness.commands import options, program_options
from harness.commands.run import new_session, resume_session, usable
from harness.job import read_back
from harness.job import session as sessions
from harness.job.plan import Gate
from harness.sessions import gates, sides
from harness.sessions import run as runs
from harness.sessions.run import counted
from harness.sites import systems
from harness.sites.systems import Request, choose_mpis, from_facts
from reframe_checks.catalogue import by_names

FOLDER = "gate"
SAMPLES_BY_TURNS = "40"  # of a launch: 20 pairs, whose noise is then less than that between launches
LEAST_BARE = 0.001  # a margin below it, without %, may be a share that was meant: 0.02 of 2 %
PLAN = "gate-plan.json"  # of a session of an earlier version
STUDY, OF_PROGRAM = "overlap-ratio", "own-program"


def gate(
    context: typer.Context,
    command: Annotated[
        list[str], typer.Argument(metavar="[-- CMD...]", help="A program of one's own, instead of studies.")
    ] = [],  # noqa: B006 - Typer copies it
    base: Annotated[str, typer.Option("--base", metavar="SIDE", help="The baseline: what is merged already.")] = "",
    new: Annotated[str, typer.Option("--new", metavar="SIDE", help="The candidate: what is to be merged.")] = "",
    study: Annotated[
        list[str], typer.Option("--study", metavar="STUDY", help=f"See ./bench list; default: {STUDY}.")
    ] = [],  # noqa: B006 - Typer copies it
    system: program_options.SystemOfProgram = "",
    mpi: options.OneMpi = "mpich",
    margin: Annotated[str, typer.Option("--margin", metavar="P%", help="A slow-down up to it does not count.")] = "2%",
    minutes: Annotated[
        float, typer.Option("--minutes", min=0.1, max=24 * 60, help="The gate begins no round after these minutes.")
    ] = 20,
    on_off: Annotated[
        bool,
        typer.Option(
            "--on-off", help="Each launch pauses its engine by turns; what that changes is compared, which is surer."
        ),
    ] = False,
    scale: options.Scale = "quick",
    settings: options.Settings = [],  # noqa: B006 - Typer copies it
    nodes: options.Nodes = 2,
    seed: options.Seed = 1,
    ranks: program_options.Ranks = None,
    launcher: program_options.Launcher = "",
    time_from: program_options.TimeFrom = "",
    check: program_options.Check = "",
    timeout: program_options.Timeout = 600.0,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="A folder for a copy of the verdict's files.")
    ] = None,
    store: Annotated[
        Path | None, typer.Option("--store", metavar="DIR", help="The folder of earlier gates; default: results/gates.")
    ] = None,
    resume: Annotated[
        str, typer.Option("--resume", metavar="SESSION", help="Go on with a gate that was stopped.")
    ] = "",
    inject_slowdown: Annotated[float, typer.Option(min=0.5, max=100, hidden=True)] = 1.0,
) -> int:
    """Compare a candidate with a baseline, and with a second copy of the baseline, by turns in one allocation.

    A side is a variant (adaptive:burst=5), settings:FILE, or one of prefix:DIR, modules:"A B", spack:ENVIRONMENT,
    commit:REVISION and mpi:NAME. These five may end with ,VARIANT or ,settings:FILE.

    A program of one's own may stand behind --. Its time is compared, and its result must be the same in every launch.
    How long it takes is not known: the minutes decide how many rounds there are.

    Exit status 0: the candidate is the same or faster. 1: it is slower by more than the margin. 3: it cannot be told
    (a node is slow, the system is not as it was, undecided, nothing comparable, the gate itself failed). 2: a wrong
    call, a side that does not build, an engine of another MPI.

    The session's folder gate/ has the verdict as Markdown, JSON, JUnit and OpenMetrics. If launches of the candidate
    alone failed or gave wrong results, the status is 3, gate.json says "candidate_failed": true, and JUnit has an
    error: do not let it pass.

    Example: ./bench gate --base commit:main --new commit:HEAD --minutes 10
    """
    if resume:
        options.allow_only(context, "resume", "out", "store")
    kept = store or default_store()
    _check_folders(kept, out)
    if resume:
        return _go_on(sessions.load(resume), out, kept)
    if not (base and new):
        raise UsageError("A gate has two sides: give --base and --new.")
    _named_in_files(base, new, launcher, *command)
    program_options.none_without(command, context)
    if command:
        _check_program(study, inject_slowdown, on_off)
    chosen = systems.by_name(program_options.system_name(system, launcher))
    (name,) = _one(choose_mpis(mpi, chosen))
    settings_of = ({"max_samples": SAMPLES_BY_TURNS} if on_off else {}) | parse_settings(settings)
    studies = by_names(study or [OF_PROGRAM if command else STUDY])
    if command:
        program = program_options.named(command, name, chosen, ranks, launcher, time_from, check)
        studies = [replace(studies[0], program=program)]
        settings_of = {"timeout_s": str(timeout), **settings_of}
    request = Request.of(studies, chosen, [name], [], scale, settings_of, seed, nodes)
    asked, plan = _asked(request, base, new, margin, minutes, on_off)
    slower = [f"--inject-slowdown={inject_slowdown:g}"] if inject_slowdown != 1 else []
    return _begin(request, asked, slower, plan, out, kept)


def _check_folders(kept: Path, out: Path | None) -> None:
    """UsageError with what is wrong with the store, or with --out: it is said before anything is measured."""
    from analysis.gate import outputs  # noqa: PLC0415 - a second of imports
    from analysis.gate import store as stores  # noqa: PLC0415

    stores.check(kept)
    stores.read(kept)
    if out:
        outputs.check(out)


def _check_program(study: Sequence[str], inject_slowdown: float, on_off: bool) -> None:
    """UsageError for what a gate of a program of one's own does not have."""
    if study:
        raise UsageError(f"--study {study[0]} and a program of one's own: a gate is of one of the two.")
    if inject_slowdown != 1:
        raise UsageError("--inject-slowdown is an option of our workloads: a program of one's own has none.")
    if on_off:
        raise UsageError("--on-off is done by our workloads: a program of one's own is compared launch by launch.")


def _named_in_files(*words: str) -> None:
    """UsageError for words that no file of the verdict could have: the bytes of a name that is not UTF-8."""
    for word in words:
        try:
            word.encode()
        except UnicodeEncodeError as error:
            raise UsageError(f"'{word}' is not UTF-8, as the files of a verdict are: give it another name.") from error


def _one(mpis: list[str]) -> list[str]:
    if len(mpis) != 1:
        raise UsageError("A gate is of one MPI: name it with --mpi.")
    return mpis


def _asked(
    request: Request, base: str, new: str, margin: str, minutes: float, on_off: bool = False
) -> tuple[tuple[str, str], Gate]:
    """The two sides by their full names, and the plan of the gate but for its sides."""
    from analysis.gate import sequential  # noqa: PLC0415 - a second of imports
    from analysis.gate.aligned_ranks import fewest  # noqa: PLC0415
    from analysis.gate.decision_rule import Rule  # noqa: PLC0415

    base, new = sides.named(base), sides.named(new)
    rule = Rule(margin=_margin(margin))
    rounds = gates.planned(request, (base, new), minutes, lambda points: fewest(rule.false_alarms / points), on_off)
    look = python("-m", "analysis.gate.judge")
    share = minutes / len(request.studies)
    looks = sequential.looks(rounds)
    return (base, new), Gate([], gates.CHECK_RUN, rounds, share, looks, look, rule.margin, base, new, on_off)


def _margin(text: str) -> float:
    try:
        value = float(text.removesuffix("%")) / 100
    except ValueError:
        value = -1.0
    if not 0 < value < 1:
        raise UsageError(f"--margin {text}: per cent are wanted, as in --margin 2%.")
    if value < LEAST_BARE and not text.endswith("%"):
        raise UsageError(f"--margin {text}: is it a share or per cent? Write {text}% or {100 * float(text):g}%.")
    return value


def _begin(
    request: Request, asked: tuple[str, str], new_options: Sequence[str], plan: Gate, out: Path | None, kept: Path
) -> int:
    """Have the sides built, and run the gate in a new session."""
    usable(request.system)
    whole = gates.with_sides(request, asked, new_options, plan)
    with runs.measuring(whole.system, "gate"):
        return _run(whole, new_session(whole, "gate", sys.argv[1:]), out, kept)


def _go_on(session: sessions.Session, out: Path | None, kept: Path) -> int:
    """With a gate that was stopped."""
    request = from_facts(session.facts)
    if request.asked.gate is None:
        raise UsageError(f"Session {session.name} is none of ./bench gate: ./bench run --resume goes on with it.")
    usable(request.system)
    systems.set_up(request.but(variants=[]))
    with runs.measuring(request.system, session.name):
        resume_session(request, session, force=False)
        return _run(request, session, out, kept)


def _run(request: Request, session: sessions.Session, out: Path | None, kept: Path) -> int:
    plan = request.asked.gate
    assert plan is not None
    say(f"gate: {plan.new} against {plan.base}, at most {plan.rounds} rounds and {plan.minutes:g} min a study")
    try:
        runs.run(request, session)
    finally:
        say(f"session: {session.path}")
    return _tell(session, out, kept)


def _tell(session: sessions.Session, out: Path | None, kept: Path) -> int:
    """The verdict of a session with the earlier gates of the store, to which it is added; the exit status. Whatever
    came over the store since the gate began, a candidate that was found to be slower stays so."""
    from analysis.gate import gate_records, history, judge, outputs  # noqa: PLC0415 - a second of imports
    from analysis.gate import store as stores  # noqa: PLC0415

    what = gate_records.read(session.path)
    origin = _origin(session)
    earlier, unread = [], ""
    try:
        entries, others = stores.on_network(stores.read(kept), what.network, what.where)
        earlier = stores.before(entries, what.session, what.where, what.time, origin)
        if later := [one.session for one in entries if one.where == what.where and one.time > what.time]:
            say(
                f"not counted: {counted(len(later), 'gate')} here that began after this one by the clock "
                f"({later[-1]}): the clocks of the nodes differ, or this is an older session."
            )
        if others:
            say(f"earlier gates on another network are not counted: {'; '.join(others)}")
    except of_analysis.UsageError as error:
        unread = str(error)
    ended = session.facts.state == "complete"  # else --resume goes on, and what is left of the error is the last look's
    found = judge.judge(what, [entry.values for entry in earlier], ended, _untaken(session), unread)
    _answer(f"{found.verdict.value}: {found.sentence}")
    for note in found.notes:
        say(note)
    runs.tell_reframe(session.path, found.verdict.value)
    try:
        outputs.write(found, session.path / FOLDER)
        values = history.values_of(found.points, found.check_run, what.baseline)
        stores.add(kept, stores.entry_of(found, what, values, origin, ended and not unread))
        if out:
            outputs.write(found, out)
    except (of_analysis.Failure, of_analysis.UsageError, OSError) as error:
        say(f"bench: {error}")
        return found.status or NOT_TOLD
    return found.status


def _answer(text: str) -> None:
    """Say it, if stdout takes it: status and files have the verdict as well, and must not depend on who reads."""
    try:
        print(text, flush=True)
    except OSError:
        sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115 - what is left would give the process another status


def _origin(session: sessions.Session) -> str:
    """Tells sessions from each other that began in the same second, in other folders of results or on other hosts, and
    is the same after --resume, wherever that runs. Of a session that has none drawn, of an earlier version, by the
    nanosecond at which the plan was written."""
    if session.facts.origin:
        return session.facts.origin
    written = (session.path / PLAN).stat().st_mtime_ns
    return hashlib.sha256(f"{session.path.resolve()} {written}".encode()).hexdigest()[:8]


def _untaken(session: sessions.Session) -> list[str]:
    """The variables of sides that their MPI is not shown to have taken, in words; none where it was not asked."""
    request = from_facts(session.facts)
    found: list[str] = []
    for side in request.asked.gate.sides if request.asked.gate else []:
        mpi = side.mpi or request.mpis[0]
        asked = [probe for probe in side.probes if read_back.log_of(session.folders.logs, mpi, probe).exists()]
        found += read_back.doubts(asked, session.folders.logs, mpi)
    return list(dict.fromkeys(found))


STORE = "gates"
SHORT = 12  # characters of a commit's name


def default_store() -> Path:
    """Where gates are kept unless another store is named."""
    return results_dir() / STORE


def history(
    store: Annotated[
        Path | None, typer.Option("--store", metavar="DIR", help="The store; default: results/gates.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="A folder for a figure of each series, and history.json."),
    ] = None,
) -> int:
    """Show a store's gates with their verdicts, and the points whose ratios changed: since which gate, by how much.

    A loss that is smaller than a gate's margin passes every gate. Here it is found once enough gates have seen it.

    Example: ./bench history --store /shared/ci/gates --out history
    """
    from analysis.gate import changes, outputs  # noqa: PLC0415 - a second of imports
    from analysis.gate import store as stores  # noqa: PLC0415
    from analysis.text_table import markdown  # noqa: PLC0415

    if out:
        outputs.check(out)
    entries = stores.read(store or default_store())
    if not entries:
        print("No gate is in the store yet: ./bench gate puts one there.")
        return 0
    rows = [
        [one.time, one.where, _short(one.new), _short(one.base), _checkout(one.commit), one.verdict, one.session]
        for one in entries
    ]
    columns = ["time", "where", "candidate", "baseline", "checkout", "verdict", "session"]
    print("\n".join(markdown(columns, rows)))
    print()
    found = changes.changes(entries)
    if not found:
        print(f"No change in the ratios of {len(changes.series(entries))} series.")
    for one in found:
        which = f"{_short(one.entry.new)} of checkout {_checkout(one.entry.commit) or 'unknown'}"
        print(
            f"{one.key}: {100 * (one.ratio - 1):+.1f} % since {one.entry.session} ({which}), "
            f"adjusted p {one.adjusted:.2g}"
        )
    if out:
        written = changes.write(entries, found, out)
        print(f"{out} has {len(written)} figures and {changes.FILE}.")
    return 0


def _checkout(commit: str) -> str:
    """A commit's name at that length; what tells of changes to it stays."""
    name, plus, changes = commit.partition("+")
    return f"{name[:SHORT]}{plus}{changes}"


def _short(words: str) -> str:
    """A side in a table: a commit's name at the length at which git tells one from another."""
    return re.sub(rf"(?<=^commit:)([0-9a-f]{{{SHORT}}})[0-9a-f]+", r"\1", words)
