# SPDX-License-Identifier: BSD-3-Clause
"""What the records of a search say: of each side and round the objective, and what is bounded.

The objective is a metric of overlap, for which each round has a launch of bare under the MPI as it is, whose times of
communication and computation all sides of the round are held against; or a recorded quantity, or the `time` that the
study is about. It is turned so that more is better, and logarithms are taken of what is compared by ratio.

`SearchPlan`: what it was asked for and what was planned of it, as its session.json says (harness.job.search).
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis.compare.matched_points import Measured as Point
from analysis.compare.matched_points import measured
from analysis.errors import UsageError, there_are
from analysis.metrics.formulas import METRICS, Times
from analysis.metrics.times import launch_times, rank_samples
from analysis.records import frames
from analysis.records.frames import NOT_RUN
from analysis.records.load import Records, load
from analysis.records.read import Quantity, judged_by

# The names of sides are those of harness.job.search, which is not imported here; a test holds them against each other.
DEFAULT, REFERENCE, CONFIRM = "default", "reference", "confirm."
UNSET = "default"  # a parameter's value that leaves it alone
CHANGED = 3  # parameters that a first setting changes: a bad value of one of many would hide the others
# The sides of a confirmation: the winner and the default afresh, and the two factors of the winner one by one.
TUNED = f"{CONFIRM}tuned"
OLD = f"{CONFIRM}{DEFAULT}"
ENGINE_ALONE = f"{CONFIRM}tuned-engine"  # under the MPI as it is
MPI_ALONE = f"{CONFIRM}tuned-mpi"  # bare
BARE = f"{CONFIRM}{REFERENCE}"


@dataclass(frozen=True)
class Axis:
    """A parameter and its values, the first of which is UNSET."""

    name: str
    values: tuple[str, ...]
    of_mpi: bool = False


@dataclass(frozen=True)
class Tried:
    """A setting that ran: by how much it was better than the default, None where it failed; `beyond`: by how much a
    bound was broken, below zero where none was."""

    values: Mapping[str, str]
    gain: float | None
    beyond: float = -1.0


@dataclass(frozen=True)
class Block:
    """Rounds of the same sides; `first` is the number of its first round."""

    sides: tuple[str, ...]
    rounds: int
    first: int

    @property
    def round_numbers(self) -> range:
        return range(self.first, self.first + self.rounds)


@dataclass(frozen=True)
class SearchPlan:
    """`contenders`: name -> the parameters that are not left alone. `bounds`: metric -> what it may be at most.
    `confirm`: rounds of a confirmation, which may be looked at and go on `looks` times."""

    objective: str
    space: tuple[Axis, ...]
    bounds: Mapping[str, float] = field(default_factory=dict)
    method: str = "effects"
    at_once: int = 6
    block_rounds: int = 6
    confirm: int = 12
    looks: int = 3
    contenders: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    blocks: tuple[Block, ...] = ()
    variant: str = "adaptive"
    elsewhere: bool = True  # the winner is confirmed at other points than those that were tuned
    verified: bool = True  # False for a program of one's own whose result nothing finds in its output

    @property
    def searched(self) -> list[Block]:
        """The blocks of the search itself."""
        return [block for block in self.blocks if block.rounds and not block.sides[0].startswith(CONFIRM)]

    @property
    def confirmed(self) -> list[Block]:
        """The blocks in which the winner was measured afresh."""
        return [block for block in self.blocks if block.rounds and block.sides[0].startswith(CONFIRM)]


def of(facts: Mapping[str, Any]) -> SearchPlan:
    """What a session's facts say; UsageError if it is none of a search."""
    search = (facts.get("request") or {}).get("search")
    if not search:
        raise UsageError(f"{facts.get('session', 'this')} is no session of ./bench tune.")
    blocks, first = [], 0
    for block in search["blocks"]:
        blocks.append(Block(tuple(block["sides"]), block["rounds"], first))
        first += block["rounds"]
    return SearchPlan(
        objective=search["objective"],
        space=tuple(Axis(axis["name"], tuple(axis["values"]), axis["of_mpi"]) for axis in search["space"]),
        bounds=dict(search["bounds"]),
        method=search["method"],
        at_once=search["at_once"],
        block_rounds=search["block_rounds"],
        confirm=search["confirm"],
        looks=search.get("looks", 1),
        contenders={one["name"]: dict(one["values"]) for one in search["contenders"]},
        blocks=tuple(blocks),
        variant=search["variant"],
        elsewhere=search["points"] != search["untuned"],
        verified=_verified(facts["request"].get("program")),
    )


def _verified(program: Mapping[str, Any] | None) -> bool:
    """Whether wrong results are seen: a study verifies its data; of somebody else's program what --check finds."""
    return not program or bool(program.get("check") or program.get("case"))


SHORT = {"efficiency": "overlap_efficiency", "inflation": "compute_inflation"}
TIME = "time"
TIME_OF_OVERLAP = "send_time"  # the metric that TIME is where something is bounded
COST = "inflation"  # what an objective of overlap is weighed against where nothing is bounded
BY_DIFFERENCE = ("overlap_efficiency", "hidden_communication", "availability")  # shares, which may be 0 or below
HELD_AGAINST = (DEFAULT, REFERENCE, BARE)  # of no setting: a launch of them that failed is repeated by --resume
GOOD = ("ok", "skipped", "interrupted", "incomplete")  # of a launch that was cut off those points count that it has
NO_SEED = 0  # of the bootstrap, whose draws nobody looks at here


@dataclass(frozen=True)
class Score:
    """A launch: the objective over all its points, of which more is better; `bounds`: each of `costs` -> its worst
    point; `points`: the objective at each."""

    value: float
    bounds: Mapping[str, float] = field(default_factory=dict)
    points: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Measured:
    """`scores`: side -> round -> what was measured; `failures`: side -> why a launch of it does not count; `plain`:
    side -> round -> the objective as it is, for people. `engine`: side -> the settings that the engine reported, a
    process each; `seconds`: how long a launch takes, the median of all; `with_hangs`: their mean; `not_run`: launch ->
    why its job did not come to it, which says nothing of its setting. `failed_in`: side -> the first round with a
    failure."""

    asked: SearchPlan
    scores: Mapping[str, Mapping[int, Score]]
    failures: Mapping[str, str] = field(default_factory=dict)
    plain: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    engine: Mapping[str, list[Mapping[str, Any]]] = field(default_factory=dict)
    seconds: float = 0.0
    with_hangs: float = 0.0
    session: str = ""
    notes: list[str] = field(default_factory=list)
    not_run: Mapping[str, str] = field(default_factory=dict)
    failed_in: Mapping[str, int] = field(default_factory=dict)


def metric_name(word: str) -> str:
    """The metric that a word of the command line means, or ""."""
    name = SHORT.get(word, word)
    return name if name in METRICS else ""


def by_ratio(objective: str) -> bool:
    """Whether two values of the objective are compared by their ratio."""
    return metric_name(objective) not in BY_DIFFERENCE


def check_words(objective: str, bounds: Mapping[str, float], overlap: bool) -> None:
    """UsageError unless the objective and what is bounded can be measured. `overlap`: the study measures overlap."""
    known = _metrics()
    for word in bounds:
        if not metric_name(word):
            raise UsageError(f"--subject-to {word}: there is no such metric. {there_are(word, known)}")
    if not overlap and (metric_name(objective) or bounds):
        word = objective if metric_name(objective) else next(iter(bounds))
        raise UsageError(f"{word} is a metric of overlap, which this study does not measure: take --objective {TIME}.")
    if bounds and objective != TIME and not metric_name(objective):
        raise UsageError(
            f"--objective {objective}: beside --subject-to it is {TIME} or a metric of overlap. "
            f"{there_are(objective, known)}"
        )


def check_recorded(objective: str, quantities: Mapping[str, Quantity], overlap: bool) -> None:
    """UsageError unless the objective is TIME, a metric, or one of these quantities that a study records."""
    names = [name for name, _ in judged_by(quantities) if name in quantities]
    if objective not in (TIME, *names) and not metric_name(objective):
        raise _no_quantity(objective, [*names, *(_metrics() if overlap else [])])


def _metrics() -> list[str]:
    """The words that name a metric."""
    return [*SHORT, *(name for name in METRICS if name not in SHORT.values())]


def _no_quantity(objective: str, known: Collection[str]) -> UsageError:
    return UsageError(
        f"--objective {objective}: this study records no such quantity to compare by. "
        f"{there_are(objective, [TIME, *known])}"
    )


def read(path: Path) -> Measured:
    """The search in a session's folder; UsageError if there is none, or its objective is none."""
    records = load([path])
    wanted = of(records.sessions[0])
    launches = records.launches
    side_of = dict(zip(launches["launch"], launches["side"], strict=True)) if len(launches) else {}
    round_of = dict(zip(launches["launch"], launches["repetition"], strict=True)) if len(launches) else {}
    failures, not_run = _failures(records, side_of), _not_run(records)
    good = [name for name in side_of if name not in failures and name not in not_run]
    plain = (
        _by_metrics(records, wanted, good, side_of, round_of)
        if of_overlap(wanted)
        else _by_quantity(records, wanted, side_of)
    )
    scores: dict[str, dict[int, Score]] = {}
    shown: dict[str, dict[int, float]] = {}
    valueless: dict[str, str] = {}
    for launch in good:
        if launch in plain:
            side, round_ = str(side_of[launch]), int(round_of[launch])
            if why := _without_value(plain[launch][0], wanted):
                valueless.setdefault(side, why)
                continue
            scores.setdefault(side, {})[round_], shown.setdefault(side, {})[round_] = plain[launch]
    reasons: dict[str, str] = {}
    failed_in: dict[str, int] = {}
    for launch in sorted(failures, key=lambda name: int(round_of[name])):
        reasons.setdefault(str(side_of[launch]), failures[launch])
        failed_in.setdefault(str(side_of[launch]), int(round_of[launch]))
    reasons |= {side: why for side, why in valueless.items() if side not in scores and side not in reasons}
    reported: dict[str, list[Mapping[str, Any]]] = {}
    for row in frames.rows(launches):
        said = [report["settings"] for report in row["engines"] if "settings" in report]  # a damaged report has none
        reported.setdefault(str(row["side"]), []).extend(said)
    took: list[float] = launches["launch_s"].dropna().tolist() if len(launches) else []
    return Measured(
        asked=wanted,
        scores=scores,
        failures=reasons,
        plain=shown,
        engine=reported,
        seconds=float(np.median(took)) if len(took) else 0.0,
        with_hangs=float(np.mean(took)) if len(took) else 0.0,
        session=records.sessions[0]["session"],
        notes=records.cautions(),
        not_run=not_run,
        failed_in=failed_in,
    )


def costs(wanted: SearchPlan) -> list[str]:
    """What the objective is weighed against: the metrics that are bounded, else inflation. Nothing where the objective
    is a quantity, for which no metrics are computed, or inflation itself."""
    if wanted.bounds:
        return list(wanted.bounds)
    return [COST] if metric_name(wanted.objective) not in ("", metric_name(COST)) else []


def of_overlap(wanted: SearchPlan) -> bool:
    """Whether launches are held against a reference of their round, by the metrics of overlap."""
    return bool(metric_name(wanted.objective) or wanted.bounds)


def _failures(records: Records, side_of: Mapping[str, Any]) -> dict[str, str]:
    """Launch -> why it does not count: a point of it failed, or it ended badly behind its last one. A later run of it
    makes up for that where it is of no setting. What was left out behind a failure is none itself, nor what the job did
    not come to."""
    found: dict[str, str] = {}
    if not len(records.points):
        return found
    points, launches = records.points.groupby(["launch", "point"], sort=False), records.launches.groupby("launch")
    for launch, rows in [*((name, rows) for (name, _), rows in points), *launches]:
        bad = rows[~rows["status"].isin(GOOD) & ~_never_begun(rows)]
        made_up_for = str(side_of.get(launch)) in HELD_AGAINST and rows["status"].eq("ok").any()
        if launch in side_of and len(bad) and not made_up_for:
            found.setdefault(str(launch), str(bad.iloc[0]["reason"] or bad.iloc[0]["status"]))
    return found


def _not_run(records: Records) -> dict[str, str]:
    """Launch -> why a point of it was not run, and not by a later job either."""
    found: dict[str, str] = {}
    if not len(records.points):
        return found
    for (launch, _), rows in records.points.groupby(["launch", "point"], sort=False):
        if _never_begun(rows).all():
            found.setdefault(str(launch), str(rows.iloc[-1]["reason"]).removeprefix(NOT_RUN))
    return found


def _never_begun(rows: pd.DataFrame) -> pd.Series[bool]:
    return rows["reason"].astype(str).str.startswith(NOT_RUN)


Found = dict[str, tuple[Score, float]]


def _by_metrics(
    records: Records, wanted: SearchPlan, good: list[str], side_of: Mapping[str, Any], round_of: Mapping[str, Any]
) -> Found:
    """Launch -> its score; a launch without a reference in its round has none."""
    rows = records.points[records.points["launch"].isin(good) & (records.points["status"] == "ok")]
    samples, rng = rank_samples(records, rows), np.random.default_rng(NO_SEED)
    medians: dict[str, dict[str, dict[str, float]]] = {}
    for (launch, point), ranks in frames.groups(rows, ["launch", "point"]):
        usable, pattern = [samples[row] for row in ranks.index if row in samples], json.loads(point).get("pattern")
        medians.setdefault(launch, {})[point] = launch_times(usable, pattern, rng).medians
    reference = {
        (int(round_of[launch]), str(side_of[launch]).startswith(CONFIRM)): points
        for launch, points in medians.items()
        if str(side_of[launch]).removeprefix(CONFIRM) == REFERENCE
    }
    found: Found = {}
    for launch, points in medians.items():
        there = reference.get((int(round_of[launch]), str(side_of[launch]).startswith(CONFIRM)), {})
        of_points = {
            point: Times(comm=there[point]["own_comm"], comp=there[point]["own_comp"], **mine)
            for point, mine in points.items()
            if point in there
        }
        if of_points and len(of_points) == len(points):
            found[launch] = _score(wanted, of_points)
    return found


def _without_value(score: Score, wanted: SearchPlan) -> str:
    """What of the objective and the bounds has no value at the points of a launch, in words; empty if all have one."""
    values = {wanted.objective: score.value, **{word: score.bounds[word] for word in wanted.bounds}}
    lacking = " and ".join(word for word, value in values.items() if not math.isfinite(value))
    return f"no value of {lacking} at its points: a time in the formula is not above 0" if lacking else ""


def _score(wanted: SearchPlan, times: Mapping[str, Times]) -> tuple[Score, float]:
    name, every = metric_name(wanted.objective) or TIME_OF_OVERLAP, times.values()
    values = np.array([float(METRICS[name].value(one)) for one in every])
    bounds = {word: float(np.max([METRICS[metric_name(word)].value(one) for one in every])) for word in costs(wanted)}
    if by_ratio(name) and values.min() <= 0:
        return Score(math.nan, bounds), math.nan
    turned = values
    if by_ratio(name):
        turned = np.log(values) if METRICS[name].better == "higher" else -np.log(values)
    plain = math.exp(np.log(values).mean()) if by_ratio(name) else values.mean()
    return Score(float(turned.mean()), bounds, dict(zip(times, map(float, turned), strict=True))), float(plain)


def _by_quantity(records: Records, wanted: SearchPlan, side_of: Mapping[str, Any]) -> Found:
    """The same of a recorded quantity: the mean of the logarithms over the points of a launch. A launch without it at a
    point that it measured has no score."""
    if not len(records.points):
        return {}
    points = measured(records)
    of_default = {
        key[-1]: one.quantity
        for key, one in points.items()
        if any(side_of.get(launch) in (DEFAULT, OLD) for launch in one.launches)
    }
    logs: dict[str, list[float]] = {}
    turned: dict[str, dict[str, float]] = {}
    lost: set[str] = set()
    for key, one in points.items():
        chosen = _chosen(one, wanted.objective, of_default.get(key[-1], ""))
        lost |= {*one.launches, *one.lacking} - {*chosen.launches}
        for launch, values in chosen.launches.items():
            logs.setdefault(launch, []).append(math.log(float(np.median(values))))
            turned.setdefault(launch, {})[key[-1]] = -chosen.sign * logs[launch][-1]
    return {
        launch: (
            Score(float(np.mean(list(turned[launch].values()))), points=turned[launch]),
            math.exp(float(np.mean(values))),
        )
        for launch, values in logs.items()
        if launch not in lost
    }


def _chosen(point: Point, objective: str, of_default: str) -> Point:
    """The point by the objective: TIME is what the default is judged by there, for every setting."""
    if not point.choices:
        return point
    if objective == TIME:
        return point.by(of_default) if of_default in point.choices else Point()
    if objective not in point.choices:
        raise _no_quantity(objective, point.choices)
    return point.by(objective)


def frame(found: Measured) -> pd.DataFrame:
    """One row a side and round: what figures are drawn from."""
    rows = [
        {"side": side, "round": round_, "value": found.plain[side][round_], **score.bounds}
        for side, rounds in found.scores.items()
        for round_, score in rounds.items()
    ]
    return pd.DataFrame(rows, columns=None if rows else ["side", "round", "value"])
