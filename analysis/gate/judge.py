# SPDX-License-Identifier: BSD-3-Clause
"""From what a gate measured to its verdict.

A candidate that is shown to be slower is called so on whatever nodes it ran: baseline and candidate run on the same
ones in every round, so a slow node moves both. Where it is not, a node that the check run shows to be slow comes first,
then a system that is not as it was in earlier gates, and only then is the candidate called the same or faster.

`python -m analysis.gate.judge SESSION STUDY` says, between two rounds, whether enough is known: status 0 if the study
needs no further one. The others have jobs, and looks, of their own.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from analysis.errors import UsageError
from analysis.gate import decision_rule, gate_records, history, slow_nodes
from analysis.gate.aligned_ranks import fewest, p_above, p_below, ratio
from analysis.gate.decision_rule import Rule, State
from analysis.gate.gate_records import BASE, CONTROL, SIDES, Measurement, Series, own
from analysis.gate.outcome import NEW, CheckRun, GateFound, PointFound, SlowPart, Verdict
from analysis.gate.slow_nodes import COMPUTATION, TRANSFER, Parts
from analysis.records.frames import NOT_RUN
from analysis.statistics.ranks import middle
from analysis.words import points_text

Array = npt.NDArray[np.float64]
NAMES = {BASE: "the baseline", CONTROL: "the second copy of the baseline", NEW: "the candidate"}


def judge(
    found: Measurement,
    earlier: Sequence[Mapping[str, float]] = (),
    ended: bool = True,
    untaken: Sequence[str] = (),
    unread: str = "",
) -> GateFound:
    """The verdict. `ended`: no further round is to come; else only what a look has decided counts. `untaken`: variables
    of a side which its MPI is not shown to take, in words. `unread`: why earlier gates are not known, if they cannot
    be read."""
    rule = Rule(margin=found.plan.margin)
    slow, check_run = slow_nodes.slow_parts(found.check_run), _check_run(found.check_run)
    seen = {study: _seen(part, rule, ended) for study, part in found.parts().items()}
    state, points = _whole(seen, found), [point for one in seen.values() for point in one.points]
    used = sorted(one.rounds for one in seen.values())
    verdict, sentence = _verdict(state, list(seen.values()), rule, found)
    left = history.left(history.values_of(points, check_run, found.baseline), earlier)
    blind = any(2 * found.check_run_rounds(study) < one.rounds for study, one in seen.items())
    unknown = _unknown(found.check_run_trouble or "it left no value" if blind else "", unread)
    if verdict is not Verdict.COMMIT:
        verdict, sentence = _beside_the_candidate(verdict, sentence, untaken, slow, left, unknown)
    elif slow:
        sentence = f"{sentence} Besides: {'; '.join(map(slow_nodes.words, slow))}."
    plan = found.plan
    return GateFound(
        decided=state is not State.OPEN,
        settled=[study for study, one in seen.items() if one.state is not State.OPEN],
        session=found.session,
        base=plan.base,
        new=plan.new,
        verdict=verdict,
        sentence=sentence,
        margin=rule.margin,
        rounds=min(used, default=0),
        planned=plan.rounds,
        points=points,
        odd=slow,
        check_run=check_run,
        notes=found.notes,
        failed_sides=[side for side in SIDES if own(_trouble(found).get(side, NOT_RUN))],
        check_run_failed=blind,
    )


def _unknown(check_run_trouble: str, unread: str) -> str:
    """Why nodes or system may not be as usual, for all that is known: no candidate passes then. Empty if they are."""
    if check_run_trouble:
        return f"the check run failed: {check_run_trouble}; a slow node would not be seen."
    return f"the system cannot be held against earlier gates: {unread}" if unread else ""


def _beside_the_candidate(
    verdict: Verdict, sentence: str, untaken: Sequence[str], slow: Sequence[SlowPart], left: Sequence[str], unknown: str
) -> tuple[Verdict, str]:
    """The verdict where the candidate is not shown to be slower: what else was not as it should be comes first."""
    if untaken:
        why = f"a side may not have been what was asked for: {'; '.join(untaken)}."
        return Verdict.UNDECIDED, f"Not told, since {why} {sentence}"
    if slow:
        return Verdict.NODE, f"Node trouble: {'; '.join(map(slow_nodes.words, slow))}. {sentence}"
    if verdict is not Verdict.UNDECIDED and unknown:
        verdict, sentence = Verdict.UNDECIDED, f"Not told, since {unknown} {sentence}"
    if left:
        return Verdict.SYSTEM, f"The system is not as it was: {'; '.join(left)}. {sentence}"
    return verdict, sentence


def _trouble(found: Measurement) -> dict[str, str]:
    """Side -> what went wrong under it."""
    return {side: why for series in found.series for side, why in series.trouble.items()}


@dataclass(frozen=True)
class _Seen:
    """What is known of one study, after which of its rounds."""

    state: State
    rounds: int
    points: list[PointFound]
    faster: list[PointFound]  # by more than the margin, shown over all points
    deciding: list[PointFound]  # those that must be the same; the others may only not be slower


def _seen(part: Measurement, rule: Rule, ended: bool) -> _Seen:
    rounds = part.complete_rounds()
    state, used, level = _state(part, rounds, rule, ended)
    points = [_point(series, rounds[:used], rule, level) for series in part.series] if used else []
    gained = [bool(p_below(series.logs(rounds[:used]), -rule.bound) <= level.faster) for series in part.series if level]
    deciding = list(itertools.compress(points, _deciding(part)))
    return _Seen(state, used, points, list(itertools.compress(points, gained)), deciding)


def _deciding(part: Measurement) -> list[bool]:
    """Of each series whether it must be the same. Where a point is known within launches, its whole time, of which
    launches differ more, is asked only whether it is slower, as by the cost of calls, which are the same on and off."""
    paired = any(series.paired for series in part.series)
    return [series.paired or not paired for series in part.series]


def _whole(seen: Mapping[str, _Seen], found: Measurement) -> State:
    """One study is enough to tell that the candidate is slower, or that nothing can be told; all must be the same."""
    states = {one.state for one in seen.values()}
    for state in (State.MOVED, State.COMMIT):
        if state in states:
            return state
    return State.SAME if states == {State.SAME} and not found.lacking() else State.OPEN


def _state(
    part: Measurement, rounds: list[int], rule: Rule, ended: bool
) -> tuple[State, int, decision_rule.Levels | None]:
    """What is known, after how many rounds, and what the look that told it could spend."""
    planned = part.plan.rounds
    at = [look for look in part.plan.looks if look <= len(rounds)]
    if planned not in at:  # the very last look takes what is left of the error: after all rounds, or when time is up
        at.append(len(rounds) if ended else planned)
    if not rounds or at[0] > len(rounds):
        return State.OPEN, 0, None
    logs = np.stack([one.logs(rounds) for one in part.series])
    levels, deciding = decision_rule.levels(rule, at, planned, part.tests()), np.array(_deciding(part))
    last = (0, levels[0])
    for count, level in zip(at, levels, strict=True):
        if count > len(rounds):
            break
        kinds = [logs[these][..., :count] for these in (deciding, ~deciding) if these.any()]
        states = [State(int(decision_rule.state(kind, rule, level))) for kind in kinds]
        state = next((one for one in states if one in (State.MOVED, State.COMMIT)), states[0])
        if state is not State.OPEN:
            return state, count, level
        last = (count, level)
    return State.OPEN, *last


def _point(series: Series, rounds: list[int], rule: Rule, level: decision_rule.Levels | None) -> PointFound:
    assert level is not None
    logs = series.logs(rounds)
    shown, beside = ratio(logs, level.same), middle(logs[decision_rule.CONTROL] - logs[decision_rule.BASE], level.moved)
    below, above = p_below(logs, rule.bound) <= level.same, p_above(logs, -rule.bound) <= level.same
    return PointFound(
        name=series.name,
        quantity=series.quantity,
        ratio=math.exp(shown.value),
        low=_exp(shown.low),
        high=_exp(shown.high),
        control=math.exp(beside.value),
        control_low=_exp(beside.low),
        control_high=_exp(beside.high),
        base=float(np.median([series.values[BASE][round_] for round_ in rounds])),
        slower=bool(p_above(logs, rule.bound) <= level.commit),
        same=bool(below & above),
        faster=bool(p_below(logs, 0.0) <= level.same),
        level=1 - 2 * level.same if math.isfinite(shown.high) else math.nan,
        control_level=1 - 2 * level.moved if math.isfinite(beside.high) else math.nan,
    )


def _exp(value: float) -> float:
    return math.exp(value) if math.isfinite(value) else (math.inf if value > 0 else 0.0)


def _verdict(state: State, seen: Sequence[_Seen], rule: Rule, found: Measurement) -> tuple[Verdict, str]:
    """`seen`: of each study."""
    margin = f"{100 * rule.margin:g} %"
    points, rounds = [point for one in seen for point in one.points], sorted(one.rounds for one in seen)
    counts = " to ".join(map(str, dict.fromkeys((*rounds[:1], *rounds[-1:]))))
    over = f"over {counts} rounds of {points_text(len(points))}"
    failed = "; ".join(f"{NAMES[side]}: {reason}" for side, reason in _trouble(found).items())
    verdict, sentence = Verdict.UNDECIDED, ""
    if not points:
        sentence = f"Nothing could be compared: {failed or _nothing(found)}."
    elif state is State.COMMIT:
        slower = "; ".join(f"{_named(p)} ({_percent(p.low)} to {_percent(p.high)})" for p in points if p.slower)
        verdict, sentence = Verdict.COMMIT, f"The candidate is slower by more than {margin}, {over}: {slower}."
    elif state is State.MOVED:
        moved = [point for point in points if point.control_low > 1 or point.control_high < 1]  # and not what is noisy
        widest = max(moved or points, key=lambda point: abs(math.log(point.control)))
        sentence = (
            f"Not told: a second copy of the baseline differs from the baseline by {_percent(widest.control)} in "
            f"{widest.name}, {over}; what differs is not the candidate."
        )
    elif failed:
        sentence = f"Not told, since launches failed: {failed}."
    elif lacking := found.lacking():
        sentence = f"Not told, since nothing was measured of {' and '.join(lacking)}."
    elif state is State.SAME and (faster := [point for one in seen for point in one.faster]):
        named = "; ".join(map(_named, faster))
        verdict, sentence = Verdict.FASTER, f"The candidate is faster by more than {margin}, {over}: {named}."
    elif state is State.SAME:
        verdict = Verdict.SAME
        sentence = f"The candidate is not slower: within {margin} or faster in every point, {over}."
        if beside := [point for one in seen for point in one.points if point not in one.deciding]:
            sees = 100 * math.expm1(rule.bound + max(map(_width, beside)))
            sentence += f" So by pairs within launches; whole times could see a slow-down of {sees:.1f} % at least."
    else:
        sentence = _undecided([one for one in seen if one.state is State.OPEN], rule, found)
    return verdict, sentence


def _named(point: PointFound) -> str:
    return f"{point.name}: {_percent(point.ratio)}"


def _undecided(left: Sequence[_Seen], rule: Rule, found: Measurement) -> str:
    """With the smallest effect that these rounds could have seen, and about how many would be needed: of the study that
    needs most of those that are `left`, since what another one has shown is known."""
    needed, fewer = fewest(rule.false_alarms / found.tests()), min(one.rounds for one in left)
    widths = [(_width(point), one.rounds) for one in left for point in one.deciding]
    if fewer < needed or not all(math.isfinite(width) for width, _ in widths):
        return f"Undecided: {fewer} rounds are too few to show anything; {needed} at least are wanted."
    more, widest, rounds = max((rounds * (width / rule.bound) ** 2, width, rounds) for width, rounds in widths)
    limit = f" of {found.plan.rounds} planned" if rounds < found.plan.rounds else ""
    seen = 100 * math.expm1(rule.bound + widest)
    return (
        f"Undecided after {rounds} rounds{limit}: they could see a slow-down of {seen:.1f} % at least; about "
        f"{max(rounds + 1, math.ceil(more))} rounds would tell."
    )


def _width(point: PointFound) -> float:
    """Half of the interval's, of the logarithm."""
    known = point.low > 0 and math.isfinite(point.high)
    return (math.log(point.high) - math.log(point.low)) / 2 if known else math.inf


def _nothing(found: Measurement) -> str:
    if not found.series:
        return "; ".join(found.notes) or "no point was measured"
    lacking = [NAMES[side] for side in SIDES if not any(series.values[side] for series in found.series)]
    if lacking:
        return f"{' and '.join(lacking)} measured nothing"
    rounds = len(found.complete_rounds())
    return f"it broke off after {rounds} rounds, before its first look" if rounds else "no round is complete"


def _percent(ratio: float) -> str:
    return f"{100 * (ratio - 1):+.1f} %" if math.isfinite(ratio) else "unknown"


def _check_run(check_run: Mapping[str, Parts]) -> CheckRun:
    return CheckRun(_middles(check_run, COMPUTATION), _middles(check_run, TRANSFER))


def _middles(check_run: Mapping[str, Parts], what: str) -> dict[str, float]:
    """Place -> the middle of all that was measured of it, whichever study that was beside."""
    found: dict[str, list[float]] = {}
    for parts in (parts for name, parts in check_run.items() if name.startswith(what)):
        for where, rounds in parts.items():
            found.setdefault(where, []).extend(rounds.values())
    return {where: float(np.median(values)) for where, values in found.items()}


def main(arguments: list[str]) -> int:
    """Is enough known, between two rounds? Status 0 if the study needs no further one."""
    session, study = arguments
    try:
        found = judge(gate_records.read(Path(session)), ended=False)
    except (UsageError, OSError) as error:
        print(error)
        return 2
    print(f"{found.rounds} rounds: {found.verdict.value}. {found.sentence}")
    return 0 if found.decided or study in found.settled else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
