# SPDX-License-Identifier: BSD-3-Clause
"""How points and the session are judged.

A point: Welch's t test on the logarithms of the launches' medians. Launches are the unit, because samples within one
are not independent. A permutation of 6 against 6 launches has 924 outcomes, so no permutation could ever pass
a correction for hundreds of points; the t distribution can. No point is taken to be quieter than the session's
typical one, as two launches may agree by luck. Holm's correction then holds the probability of any false alarm.

The session: beside its points, the mean difference over all of them, tested by exchanging whole launches between BASE
and NEW within each (study, system, MPI, variant). That sees a small slow-down everywhere which no point alone can show.
Means over launches are trimmed there: exchanging keeps the probability of a false alarm whatever is compared.

Either must be significant AND larger than the margin, by its means and by its medians: a real difference of half a
percent is no regression, and neither are two launches that something else disturbed. Where the calibrated work differs
the margin grows by as much, and what is called the same must be so within what is left of it: `./bench run --like BASE`
does the same work.

Of a point that others disturbed (DISTURBED: of either session) nothing is told, only what its numbers would say, and it
has no part in the session's mean. Where more than MANY of the points are disturbed the mean over the others
tells nothing either: the machine was disturbed, not the point, so they are only those whose share stayed just below the
limit, which is as much as the margin. A point that failed in more of NEW's launches than of BASE's is a regression,
whatever the others took: they are the launches that came through, so they may be called slower, but neither the same
nor faster, and they have no part in the session's mean. Launches that did not converge count: their medians are known
less well, which makes launches differ more and so is in the test; the point's reason says how many there were.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from analysis.compare import missing
from analysis.compare.comparison import Comparison, Judgement, PointVerdict, SessionVerdict
from analysis.compare.matched_points import Key, Measured, agreed, measured
from analysis.compare.missing import differences
from analysis.errors import UsageError
from analysis.records.frames import took
from analysis.records.load import Records, load
from analysis.statistics.interval import holm, ratio_of_medians
from analysis.statistics.ranks import superiority
from analysis.words import point_words, points_text

Array = npt.NDArray[np.float64]
MARGIN = 0.02  # differences below 2 % are of no interest, however certain
FALSE_ALARMS = 0.01  # probability of any false alarm in a session, over all its points
PERMUTATIONS = 4000
WORK_SAID = 0.005  # differences of the calibrated work above this, as a logarithm, are said
MANY = 0.1  # share of disturbed points beyond which nothing is told of all points together
TRIMMED = 1 / 6  # of the launches at each end: one disturbed launch of six must not hide what the others agree on


@dataclass(frozen=True)
class Pair:
    """A point that both sessions measured; `sign` turns what is better the more there is into times."""

    key: Key
    base: Measured
    new: Measured

    @property
    def sign(self) -> int:
        return self.base.sign

    def logs(self) -> tuple[Array, Array]:
        return self.sign * np.log(self.base.medians), self.sign * np.log(self.new.medians)

    @property
    def typical(self) -> float:
        """The difference of the logarithms' medians over launches, which one or two disturbed launches do not move."""
        a, b = self.logs()
        return float(np.median(b) - np.median(a))

    @property
    def disturbed(self) -> bool:
        return self.base.disturbed or self.new.disturbed

    @property
    def fails_more(self) -> bool:
        """Whether a greater share of the launches failed in NEW."""
        return self.new.share(self.new.failed) > self.base.share(self.base.failed)

    @property
    def lacks_more(self) -> bool:
        """Whether a greater share of NEW's launches has nothing that can be compared."""
        return self.new.share(self.new.lacking) > self.base.share(self.base.lacking)

    @property
    def work_change(self) -> float:
        """How much the calibrated work differs, as a logarithm: that much of a difference says nothing."""
        if not self.base.work or not self.new.work:
            return 0.0
        return abs(math.log(self.new.work / self.base.work))


def compare(
    base: Path, new: Path, force: bool = False, margin: float = MARGIN, false_alarms: float = FALSE_ALARMS
) -> Comparison:
    """Compares two sessions. UsageError where one does not exist, or where they are of different machines or networks
    (the message says which; `force` compares all the same and keeps the reasons as notes)."""
    loaded = [load([path]) for path in (base, new)]
    if Path(base).resolve() == Path(new).resolve():
        raise UsageError(f"{base} and {new} are the same session; give two")
    for path, records in zip((base, new), loaded, strict=True):
        if not len(records.points):
            raise UsageError(
                f"{path}: no points to compare: {records.problems[0].text if records.problems else 'empty'}"
            )
    sessions = [records.sessions[0] for records in loaded]
    reasons, notes = differences(sessions[0], sessions[1])
    if reasons and not force:
        raise UsageError(f"not compared: {'; '.join(reasons)}. Compare all the same with --force.")
    notes = [f"compared by force: {reason}" for reason in reasons] + notes
    notes += [caution for records in loaded for caution in records.cautions()]
    notes += [note for side, records in zip(("BASE", "NEW"), loaded, strict=True) for note in _left_out(side, records)]
    points, found = judge_points(measured(loaded[0]), measured(loaded[1]), margin, false_alarms)
    names = missing.more(*loaded)
    found = replace(found, sentence=" ".join(filter(None, (found.sentence, missing.unread_sentence(names)))))
    return Comparison(sessions[0]["session"], sessions[1]["session"], found, margin, false_alarms, points, notes, names)


def _left_out(side: str, records: Records) -> list[str]:
    """How many points have samples that are no numbers or impossible ones."""
    damaged = records.points[records.points["status"] == "damaged"]
    if not len(damaged):
        return []
    first = damaged.iloc[0]["reason"]
    points = points_text(len(damaged))
    return [f"{side}: samples of {points} left out as damaged, first: {first}."]


def judge_points(
    base: Mapping[Key, Measured], new: Mapping[Key, Measured], margin: float, false_alarms: float
) -> tuple[list[PointVerdict], SessionVerdict]:
    """The verdict of every point of either session, and that of the session."""
    pairs: list[Pair] = []
    alone: list[Pair] = []
    for key in dict.fromkeys([*base, *new]):
        a, b = agreed(*(points.get(key, Measured()) for points in (base, new)))
        measured_by_both = a.quantity and a.quantity == b.quantity and a.launches and b.launches
        comparable = measured_by_both and not a.works and not b.works
        (pairs if comparable else alone).append(Pair(key, a, b))
    points = _points(pairs, margin, false_alarms / 2) + [_unpaired(pair) for pair in alone]
    found = _session(pairs, points, margin, false_alarms / 2)
    suspected = sum(point.undisturbed is Judgement.SLOWER for point in points)
    more = f"Perhaps slower, but disturbed: {points_text(suspected)}. Measure again." if suspected else ""
    lost = sum(point.lost for point in points)
    failing = f"{points_text(lost)} failed in launches of NEW, and not or in fewer of BASE." if lost else ""
    said = (found.sentence, failing, missing.sentence(points), more)
    return points, replace(found, sentence=" ".join(filter(None, said)))


def _unpaired(pair: Pair) -> PointVerdict:
    sides = [(name, side) for name, side in (("BASE", pair.base), ("NEW", pair.new)) if not side.launches]
    failures = [side.failure for side in (pair.base, pair.new) if side.failure]
    reason = _different_work(pair) or f"judged by {pair.base.quantity} in BASE, {pair.new.quantity} in NEW"
    reason = _why_alone(sides) if sides else reason
    reason += f" ({'; '.join(failures)})" if failures else ""
    gone = not pair.new.launches and bool(pair.new.failure)
    lost = bool(pair.base.launches) and (gone or pair.fails_more)
    uncompared = bool(pair.base.recorded or pair.base.launches) and not lost
    return replace(_blank(pair), reason=reason, lost=lost, uncompared=uncompared)


def _why_alone(sides: list[tuple[str, Measured]]) -> str:
    """What the sides lack: everything, or a quantity that points are judged by."""
    unknown = {name for _, side in sides if not side.quantity for name in side.recorded}
    if unknown:
        return f"recorded {', '.join(sorted(unknown))}, none of which points are judged by"
    return f"no usable samples in {' and '.join(name for name, _ in sides)}"


def _different_work(pair: Pair) -> str:
    """Of a point whose launches did different work no one median can be told; empty where they did the same."""
    mixed = [(name, side.works) for name, side in (("BASE", pair.base), ("NEW", pair.new)) if side.works]
    return "; ".join(
        f"the launches of {name} did different work: {', '.join(map(_count, works))}" for name, works in mixed
    )


def _count(work: float) -> str:
    return f"{work:.10g}"


def _blank(pair: Pair) -> PointVerdict:
    study, system, mpi, variant, point = pair.key
    quantity = pair.base.quantity or pair.new.quantity
    launches = (len(pair.base.launches), len(pair.new.launches))
    return PointVerdict(
        study, system, mpi, variant, point_words(point), quantity, Judgement.CANNOT_TELL, launches=launches
    )


def _points(pairs: list[Pair], margin: float, alpha: float) -> list[PointVerdict]:
    """The verdict of every pair, with Holm's correction over all that can be tested."""
    testable = [min(len(pair.base.launches), len(pair.new.launches)) > 1 for pair in pairs]
    variances = [_variances(pair) for pair in pairs]
    typical = float(np.median([v for pair, ok in zip(variances, testable, strict=True) if ok for v in pair] or [0.0]))
    tests = [_welch(pair, typical) if ok else None for pair, ok in zip(pairs, testable, strict=True)]
    adjusted = iter(holm([test[2] for test in tests if test]))
    return [
        _point(pair, test, next(adjusted) if test else math.nan, margin, alpha)
        for pair, test in zip(pairs, tests, strict=True)
    ]


def _variances(pair: Pair) -> tuple[float, ...]:
    return tuple(float(np.var(x, ddof=1)) if len(x) > 1 else math.nan for x in pair.logs())


def _welch(pair: Pair, typical: float) -> tuple[float, float, float, float]:
    """(difference of logs, half-width of its 90 % interval, p, standard error)."""
    a, b = pair.logs()
    parts = [max(variance, typical, 1e-12) / len(x) for variance, x in zip(_variances(pair), (a, b), strict=True)]
    error = math.sqrt(sum(parts))
    freedom = sum(parts) ** 2 / sum(part**2 / (len(x) - 1) for part, x in zip(parts, (a, b), strict=True))
    difference = float(b.mean() - a.mean())
    p = float(2 * stats.t.sf(abs(difference) / error, freedom))
    return difference, float(stats.t.ppf(0.95, freedom) * error), p, error


def _point(pair: Pair, test: Any, adjusted: float, margin: float, alpha: float) -> PointVerdict:
    blank = _blank(pair)
    above, below = list(pair.new.launches.values()), list(pair.base.launches.values())
    found = ratio_of_medians(above, below) if pair.sign > 0 else ratio_of_medians(below, above)
    a, b = pair.logs()
    shown = replace(blank, ratio=found.value, low=found.low, high=found.high, superiority=superiority(b, a))
    reasons = list(_doubts(pair))
    if test is None:
        reasons.append("one launch on a side says nothing of the difference between launches")
        return replace(shown, reason="; ".join(reasons), uncompared=not pair.fails_more, lost=pair.fails_more)
    found_verdict = _verdict(pair, test, adjusted, margin, alpha)
    if found_verdict is not Judgement.SLOWER and (pair.fails_more or pair.lacks_more):
        uncompared = not pair.fails_more
        shown = replace(shown, p=test[2], adjusted=adjusted, lost=pair.fails_more, uncompared=uncompared)
        return replace(shown, reason="; ".join([*reasons, "the other launches alone say nothing"]))
    if found_verdict is Judgement.CANNOT_TELL and pair.work_change <= WORK_SAID:
        reasons.append("the difference is neither shown nor excluded")
    shown = replace(
        shown, p=test[2], adjusted=adjusted, verdict=found_verdict, reason="; ".join(reasons), lost=pair.fails_more
    )
    if not pair.disturbed:
        return shown
    would = "" if found_verdict is Judgement.CANNOT_TELL else f"; by its numbers alone {found_verdict.value}"
    return replace(
        shown, verdict=Judgement.CANNOT_TELL, undisturbed=found_verdict, reason=f"disturbed: {shown.reason}{would}"
    )


def _verdict(
    pair: Pair, test: tuple[float, float, float, float], adjusted: float, margin: float, alpha: float
) -> Judgement:
    """What the numbers say."""
    difference, half_width, _, _ = test
    bound = math.log1p(margin) + pair.work_change
    if adjusted < alpha and _beyond(bound, difference, pair.typical):
        return Judgement.SLOWER if difference > 0 else Judgement.FASTER
    if abs(difference) + half_width + pair.work_change < math.log1p(margin):
        return Judgement.SAME
    return Judgement.CANNOT_TELL


def _doubts(pair: Pair) -> Iterator[str]:
    """What a reader should know of a point's numbers, whatever they say."""
    if pair.work_change > WORK_SAID:
        yield f"the calibrated work differs by {100 * math.expm1(pair.work_change):.1f} %: repeat BASE with --like"
    for name, side in (("BASE", pair.base), ("NEW", pair.new)):
        for launches, what in ((side.failed, "failed"), (side.lacking, "have no value")):
            if launches:
                planned = len({*side.launches, *side.failed, *side.lacking})
                yield f"{len(launches)} of {planned} launches {what} in {name} ({next(iter(launches.values()))})"
        if side.disturbed:
            yield f"{took(side.disturbance)} in {name}"
        if side.unconverged:
            yield f"not converged in {side.unconverged} of {len(side.launches)} launches of {name}"


def _beyond(bound: float, *differences: float) -> bool:
    """Whether all differences exceed the bound, in the same direction."""
    return min(differences) > bound or max(differences) < -bound


def _session(pairs: list[Pair], points: list[PointVerdict], margin: float, alpha: float) -> SessionVerdict:
    """The session's verdict: slower where a point is, or where all points together are."""
    tested = [pair for pair in pairs if min(len(pair.base.launches), len(pair.new.launches)) > 1]
    sound = [pair for pair in tested if not pair.fails_more]
    usable = [pair for pair in sound if not pair.disturbed]
    if not usable:
        how = " and undisturbed" if sound else " and without more failures in NEW" if tested else ""
        sentence = f"No point was measured in both sessions with at least two launches each{how}."
        return SessionVerdict(Judgement.CANNOT_TELL, sentence)
    over_all, overall = _over_all(usable, margin, alpha)
    disturbed = len(sound) - len(usable)
    barred = None
    if disturbed > MANY * len(sound):
        would = f" by the others alone {over_all.value}: measure again" if over_all else " measure again"
        overall = f"Not decided over all points: {disturbed} of {len(sound)} were disturbed;{would}."
        over_all, barred = None, over_all
    slower = sum(point.verdict is Judgement.SLOWER for point in points)
    faster = sum(point.verdict is Judgement.FASTER for point in points)
    if slower or over_all is Judgement.SLOWER:
        return SessionVerdict(Judgement.SLOWER, f"Slower: {points_text(slower)}; faster: {faster}. {overall}", barred)
    if faster or over_all:
        return SessionVerdict(Judgement.FASTER, f"Faster: {points_text(faster)}; none is slower. {overall}", barred)
    same = sum(point.verdict is Judgement.SAME for point in points)
    if same == len(points):
        every = f"All {same} points are" if same > 1 else "The point is"
        return SessionVerdict(Judgement.SAME, f"{every} the same within {100 * margin:g} %. {overall}")
    shown = f"{same} of {points_text(len(points))} are shown to be the same within {100 * margin:g} %, none to differ."
    return SessionVerdict(Judgement.CANNOT_TELL, f"{shown} {overall}", barred)


def _over_all(pairs: list[Pair], margin: float, alpha: float) -> tuple[Judgement | None, str]:
    """What all points together show, None where that is no difference; and their mean in words."""
    mean, p = mean_change(pairs)
    work = float(np.mean([pair.work_change for pair in pairs]))
    typical = float(np.mean([pair.typical for pair in pairs]))
    words = f"Over all {points_text(len(pairs))} NEW takes {math.exp(mean):.3f} times as long (p = {p:.2g})."
    if p >= alpha or not _beyond(math.log1p(margin) + work, mean, typical):
        return None, words
    return (Judgement.SLOWER if mean > 0 else Judgement.FASTER), words


def mean_change(pairs: list[Pair], seed: int = 0) -> tuple[float, float]:
    """(mean over points of the difference of logs, its p-value) by exchanging whole launches between the sessions."""
    rng = np.random.default_rng(seed)
    groups: dict[tuple[str, ...], list[Pair]] = {}
    for pair in pairs:
        groups.setdefault(pair.key[:4], []).append(pair)
    observed, null = 0.0, np.zeros(PERMUTATIONS)
    for group in groups.values():
        real, permuted = _exchanged(group, rng)
        observed += real
        null += permuted
    p = (1 + int(np.sum(np.abs(null) >= abs(observed) - 1e-12))) / (1 + PERMUTATIONS)
    return observed / len(pairs), p


def _exchanged(group: list[Pair], rng: np.random.Generator) -> tuple[float, Array]:
    """The group's sum of differences, and the same after PERMUTATIONS random exchanges of its launches.

    A launch that lacks a point counts there as the mean of that point: it says nothing either way.
    """
    names = list(
        dict.fromkeys(
            [(0, n) for pair in group for n in pair.base.launches]
            + [(1, n) for pair in group for n in pair.new.launches]
        )
    )
    values = np.full((len(names), len(group)), np.nan)
    for column, pair in enumerate(group):
        for side, logs, launches in zip((0, 1), pair.logs(), (pair.base.launches, pair.new.launches), strict=True):
            for name, value in zip(launches, logs, strict=True):
                values[names.index((side, name)), column] = value
    totals = np.where(np.isnan(values), np.nanmean(values, axis=0), values).sum(axis=1)
    base = sum(side == 0 for side, _ in names)  # they stand first
    shuffled = totals[rng.permuted(np.tile(np.arange(len(names)), (PERMUTATIONS, 1)), axis=1)]

    def difference(ordered: Array) -> Array:
        parts = (ordered[..., base:], ordered[..., :base])
        above, below = (stats.trim_mean(part, TRIMMED, axis=-1) for part in parts)
        return np.asarray(above - below)

    return float(difference(totals)), difference(shuffled)
