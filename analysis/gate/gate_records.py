# SPDX-License-Identifier: BSD-3-Clause
"""What the records of a gate say: a value a side, point and round, and the check run's an each node."""

from __future__ import annotations

import hashlib
import json
import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.compare.matched_points import Measured, measured
from analysis.errors import UsageError
from analysis.evidence import Evidence
from analysis.gate.outcome import NEW
from analysis.gate.slow_nodes import COMPUTATION, TRANSFER
from analysis.records.frames import NOT_NEEDED, NOT_RUN
from analysis.records.load import Records, load
from analysis.words import point_words

Array = npt.NDArray[np.float64]
BASE, CONTROL, CHECK_RUN = "base", "control", "check"
SIDES = (BASE, CONTROL, NEW)
INSTALLED = ("modules", "prefix", "spack")  # kinds of sides whose words say nothing of which engine they bring
NEW_EACH_TIME = ("commit", *INSTALLED)
CHANGES = "+changes"  # behind the name of a commit
GOOD = ("ok", "skipped")  # statuses of a point
BROKEN = ("failed", "timeout")  # and of a launch
CUT_OFF = "the last launch before its job ended: "  # and of one that failed since its job did, for all that is known
BEHIND = "behind the last point: "


@dataclass(frozen=True)
class Plan:
    """What was planned, from session.json."""

    rounds: int
    looks: list[int]
    margin: float
    base: str
    new: str


@dataclass(frozen=True)
class Series:
    """One point, its study first: side -> round -> the median of its launch, and what it is a median of. `sign` is -1
    of a rate. `trouble`: what was wrong with a launch of a side. `begun`: round -> when the last of its launches began.
    `paired`: a value is the time with the engine on over that with it paused, within a launch."""

    name: str
    quantity: str
    sign: int
    values: Mapping[str, Mapping[int, float]]
    trouble: Mapping[str, str] = field(default_factory=dict)
    begun: Mapping[int, int] = field(default_factory=dict)
    paired: bool = False

    @property
    def study(self) -> str:
        return self.name.partition(": ")[0]

    def logs(self, rounds: list[int]) -> Array:
        """(sides, rounds) of the logarithms: higher is slower."""
        values = [[self.values[side][round_] for round_ in rounds] for side in SIDES]
        return np.asarray(self.sign * np.log(values), dtype=np.float64).reshape(len(SIDES), len(rounds))


@dataclass(frozen=True)
class Measurement:
    """All that a gate measured. `baseline`: what it really was, in a word; `where`: on what; `commit`: of the checkout,
    with CHANGES behind it where it had any that are in no commit; `comparison`: in words that are the same in gates of
    one series. `check_run`: what it measures, with `beside` behind it -> node or pair of nodes -> round -> seconds.
    `studies`: those that were asked for, also if nothing is measured of one. `records`: how many launches have left
    one, those of a gate that went on in a later run among them. `check_run_trouble`: what was wrong with a launch of
    it. `network`: in words, as the records have it; empty where they do not say.
    """

    session: str
    plan: Plan
    baseline: str
    where: str
    time: str
    series: list[Series]
    check_run: dict[str, dict[str, dict[int, float]]]
    notes: list[str]
    commit: str = ""
    comparison: str = ""
    studies: Sequence[str] = ()
    records: int = 0
    check_run_trouble: str = ""
    network: str = ""

    def parts(self) -> dict[str, Measurement]:
        """Each study that was measured, alone: each has rounds of its own."""
        names = dict.fromkeys(series.study for series in self.series)
        return {name: replace(self, series=[one for one in self.series if one.study == name]) for name in names}

    def lacking(self) -> list[str]:
        """The studies of which nothing is measured, yet or at all."""
        return [name for name in self.studies if name not in self.parts()]

    def tests(self) -> int:
        """Among how many points the error is shared. A study's share is its own, however many points another one turns
        out to have: one that is still to come has none yet."""
        return max(1, len(self.studies)) * max((len(part.series) for part in self.parts().values()), default=1)

    def check_run_rounds(self, study: str) -> int:
        """In how many rounds of a study each of the things that the check run measures has a value."""
        places = [self.check_run.get(f"{what}{_of_study(study, self.studies)}", {}) for what in (COMPUTATION, TRANSFER)]
        return len(set.intersection(*({round_ for rounds in of.values() for round_ in rounds} for of in places)))

    def complete_rounds(self) -> list[int]:
        """The rounds in which every point was measured under every side, in the order in which they became so: what
        --resume measures of an early round comes last, so that no look is told by other rounds than it was made on."""
        every = [set(series.values[side]) for series in self.series for side in SIDES]
        complete = set.intersection(*every) if every else set()
        return sorted(complete, key=lambda round_: (max(series.begun.get(round_, 0) for series in self.series), round_))


def _of_study(study: str, studies: Sequence[str]) -> str:
    """What is behind the names of what the check run of a study measures: of several studies each has its own. They are
    jobs one after the other, perhaps on other nodes: what one of them saw says nothing of another one's rounds."""
    return f" beside {study}" if len(studies) > 1 else ""


def read(path: Path) -> Measurement:
    """The gate in a session's folder; UsageError if there is none."""
    records = load([path])
    facts = records.sessions[0]
    asked = (facts.get("request") or {}).get("gate")
    if not asked:
        raise UsageError(f"{path} is no session of ./bench gate.")
    plan = Plan(asked["rounds"], asked["looks"], asked["margin"], asked["base"], asked["new"])
    hosts = sorted({host for hosts in records.launches["hosts"] for host in hosts}) if len(records.launches) else []
    where = f"{facts['system']} ({', '.join(hosts)}), {', '.join(facts['mpi_names'])}"
    if conflict := records.network_conflict(facts["session"]):
        raise UsageError(conflict)
    networks = records.networks(facts["session"])
    measuring = len(records.points) > 0
    trouble = _trouble(records) if measuring else {}
    series = _series(records, {side: why for side, why in trouble.items() if side != CHECK_RUN}) if measuring else []
    return Measurement(
        session=facts["session"],
        plan=plan,
        baseline=_baseline(facts),
        where=where,
        network=networks[0] if networks else "",
        time=facts["created"],
        series=series,
        check_run=_check_run(records, facts.get("studies", ())) if measuring else {},
        check_run_trouble=trouble.get(CHECK_RUN, ""),
        notes=[
            *(f"{side} failed: {why}" for side, why in trouble.items() if not series),
            *(_impossible(records) if measuring else ()),
            *records.cautions(),
        ],
        studies=facts.get("studies", ()),
        comparison=_comparison(facts),
        commit=_checkout(facts.get("git") or {}),
        records=len(records.launches),
    )


def _checkout(known: Mapping[str, Any]) -> str:
    return f"{known.get('commit', '')}{CHANGES if known.get('dirty') else ''}"


def _baseline(facts: Mapping[str, Any]) -> str:
    """Its engine, and digests of what else its times are of: a program of one's own, which may be built anew, and the
    variables of a settings file. Those that modules set are left out: some are other ones in every job."""
    asked = facts["request"]["gate"]
    chosen = {} if asked["base"].startswith("modules:") else _side(facts)["environment"]
    digest = hashlib.sha256(json.dumps(chosen, sort_keys=True).encode()).hexdigest()[:8] if chosen else ""
    return " ".join(filter(None, (_engine(facts), facts["identity"].get("program", ""), digest)))


def _engine(facts: Mapping[str, Any]) -> str:
    """The baseline's variant and the digest of its engine."""
    side = _side(facts)
    mpi = side.get("mpi") or facts["mpi_names"][0]
    engine = facts["identity"].get(f"{mpi} engine of {BASE}") or facts["identity"].get(f"{mpi} engine", "")
    return f"{side['variant']} {engine}".strip()


def _side(facts: Mapping[str, Any]) -> dict[str, Any]:
    side = next(side for side in facts["request"]["gate"]["sides"] if side["name"] == BASE)
    return {"environment": {}, **side}


def _comparison(facts: Mapping[str, Any]) -> str:
    """The candidate's kind against this very baseline. Of a candidate that is another engine each time only the kind
    and the variant stay. A baseline that is installed somewhere is another one once its engine is."""
    asked = facts["request"]["gate"]
    kind, _, rest = asked["new"].partition(":")
    engine, comma, under = rest.partition(",")
    new = f"{kind}{comma}{under}" if kind in NEW_EACH_TIME and engine else asked["new"]
    installed = asked["base"].partition(":")[0] in INSTALLED
    return f"{new} against {asked['base']}" + (f" ({_engine(facts)})" if installed else "")


def _series(records: Records, trouble: Mapping[str, str]) -> list[Series]:
    evidence = Evidence(records)
    side_of = dict(zip(records.launches["launch"], records.launches["side"], strict=True))
    round_of = dict(zip(records.launches["launch"], records.launches["repetition"], strict=True))
    begun = _begun(records)
    together: dict[tuple[str, str], list[Measured]] = {}
    for (study, _, _, _, point), one in measured(records).items():
        if any(side_of[launch] in SIDES for launch in one.launches) or one.failure:
            together.setdefault((study, point), []).append(one)
    found = []
    for (study, point), parts in together.items():
        if not (known := [part for part in parts if part.quantity]):
            continue
        quantity = known[0].quantity
        values: dict[str, dict[int, float]] = {side: {} for side in SIDES}
        for part in known:
            chosen = part.by(quantity) if quantity in part.choices else Measured()
            for launch, samples in chosen.launches.items():
                if side_of[launch] in SIDES:
                    values[side_of[launch]][int(round_of[launch])] = float(np.median(samples))
        if any(values.values()):
            name = f"{study}: {point_words(point) or _program(records)}"
            found.append(Series(name, quantity, known[0].sign, values, trouble, begun.get(study, {})))
            places = {name: (side_of[name], int(round_of[name])) for part in known for name in part.launches}
            within = _within(evidence, found[-1], places, point)
            found += [within] if within else []
    return found


def _within(evidence: Evidence, series: Series, places: Mapping[str, tuple[str, int]], point: str) -> Series | None:
    """The same point by what the engine changes within each launch; None where not every launch paused its engine.
    `places`: launch -> side and round."""
    values: dict[str, dict[int, float]] = {side: {} for side in SIDES}
    points = evidence.records.points
    for launch, ranks in points[points["point"] == point].groupby("launch", sort=False):
        side, round_ = places.get(str(launch), ("", 0))
        for on, off in evidence.pairs(ranks, series.quantity, series.sign < 0) if side in SIDES else ():
            values[side][round_] = float(np.exp(np.median(np.log(on / off))))
    whole = all(set(values[side]) == set(series.values[side]) for side in SIDES)
    name = f"{series.name}, engine on / paused"
    return replace(series, name=name, sign=1, values=values, paired=True) if whole else None


def _program(records: Records) -> str:
    """The program of one's own that was run, in words that tell it from any other: a study of it has no parameters."""
    asked = (records.sessions[0].get("request") or {}).get("program") or {}
    command, ranks = asked.get("command", []), asked.get("ranks", 0)
    started = shlex.join(asked.get("launcher", [])) or f"{ranks} rank{'s' if ranks != 1 else ''}"
    return f"{shlex.join([Path(command[0]).name, *command[1:]])}, {started}" if command else ""


def _begun(records: Records) -> dict[str, dict[int, int]]:
    """Study -> round -> when the last of its launches under a side began that ran at all, in nanoseconds of UTC."""
    launches = records.launches
    ran = launches[launches["side"].isin(SIDES) & (launches["hosts"].map(len) > 0)]
    times = pd.to_datetime(ran["start_time"], utc=True, format="ISO8601", errors="coerce").astype("int64")
    found: dict[str, dict[int, int]] = {}
    for study, round_, when in zip(ran["study"], ran["repetition"], times, strict=True):
        rounds = found.setdefault(str(study), {})
        rounds[int(round_)] = max(int(when), rounds.get(int(round_), int(when)))
    return found


def _trouble(records: Records) -> dict[str, str]:
    """What went wrong under a side or the check run: the first that is the side's own doing, else the first."""
    side_of = dict(zip(records.launches["launch"], records.launches["side"], strict=True))
    cut_off = _cut_off(records)
    found: dict[str, str] = {}
    for launch, why in (*_unmeasured(records), *_broken_behind(records)):
        reason = f"{CUT_OFF}{why}" if launch in cut_off and not why.startswith(NOT_RUN) else why
        side = side_of[launch]
        if side in (*SIDES, CHECK_RUN) and (side not in found or (own(reason) and not own(found[side]))):
            found[side] = reason
    return found


def _unmeasured(records: Records) -> Iterator[tuple[str, str]]:
    """Launches with a point that failed and was not measured by a later run of the same launch, and why. What was not
    needed is no failure, nor what a job that ended early never began, if its next one found it not needed."""
    for (launch, _), rows in records.points.groupby(["launch", "point"], sort=False):
        bad = rows[~rows["status"].isin(GOOD)]
        never_begun = _not_run(bad).all() and rows["status"].eq("skipped").any()
        if len(bad) and not rows["status"].eq("ok").any() and not never_begun:
            yield str(launch), str(bad.iloc[0]["reason"] or bad.iloc[0]["status"])


def _broken_behind(records: Records) -> Iterator[tuple[str, str]]:
    """Launches that crashed or hung behind their last point, the first of each side, and how. What they measured is
    whole, so no later run measures it again; and yet a program that does not end well has failed. What ended one of
    them may have been the end of its job, of several it was not."""
    unfinished = set(records.points.loc[~records.points["status"].isin(GOOD), "file"])
    launches = records.launches
    broken = launches[launches["status"].isin(BROKEN) & ~launches["file"].isin(unfinished)]
    for _, rows in broken.groupby("side", sort=False):
        first, count = rows.iloc[0], len(rows)
        often = f"in {count} launches " if count > 1 else ""
        yield str(first["launch"]), f"{often}{BEHIND}{first['reason'] or first['status']}"


def _impossible(records: Records) -> list[str]:
    """The points that cannot be measured there under any side, which nothing is compared of, and why, in words."""
    side_of = dict(zip(records.launches["launch"], records.launches["side"], strict=True))
    of_sides = records.points[records.points["launch"].map(side_of).isin(SIDES)]
    found = []
    for (study, point), rows in of_sides.groupby(["study", "point"], sort=False):
        reasons = [str(why) for why in rows["reason"] if not str(why).startswith(NOT_NEEDED)]
        if rows["status"].eq("skipped").all() and reasons:
            found.append(f"Not compared: {study}: {point_words(str(point))}: {reasons[0]}.")
    return found


def own(reason: str) -> bool:
    """Whether a launch failed by itself, and not because its job ended."""
    return not reason.startswith((NOT_RUN, CUT_OFF, BEHIND))


def _not_run(rows: pd.DataFrame) -> pd.Series[bool]:
    return rows["reason"].astype(str).str.startswith(NOT_RUN)


def _cut_off(records: Records) -> set[str]:
    """The last launch that was begun of each study whose job did not come to all of them: what ended the job, a dead
    node say, ended it as well."""
    missed = _not_run(records.points)
    came_to = set(records.points[~missed]["launch"])
    ended = set(records.points[~records.points["launch"].isin(came_to)]["study"])
    begun = records.launches[records.launches["launch"].isin(came_to)]
    when = pd.to_datetime(begun["start_time"], utc=True, format="ISO8601", errors="coerce")
    last = begun.assign(when=when).sort_values("when", kind="stable").drop_duplicates("study", keep="last")
    return set(last[last["study"].isin(ended)]["launch"])


def _check_run(records: Records, studies: Sequence[str]) -> dict[str, dict[str, dict[int, float]]]:
    """Computation alone of every node, and a transfer alone of every pair of ranks that talk."""
    found: dict[str, dict[str, dict[int, float]]] = {}
    ran = records.launches[records.launches["hosts"].map(len) > 0]
    # a resumed launch has a record for each run, perhaps on other nodes; what it measured it did in the last one
    launches = ran.drop_duplicates("launch", keep="last").set_index("launch")
    series = records.series.merge(records.points[["launch", "rank", "status"]], left_on="row", right_index=True)
    for launch, rows in series[series["status"] == "ok"].groupby("launch"):
        if launch not in launches.index or launches["side"][launch] != CHECK_RUN:
            continue
        facts = launches.loc[launch]
        hosts: list[str] = list(facts["hosts"])
        half, behind = max(1, len(hosts) // 2), _of_study(str(facts["study"]), studies)
        for row in rows.to_dict("records"):
            rank, quantity = int(row["rank"]), row["quantity"]
            seconds = float(np.median(records.series_values(row["first"], row["count"])))
            if quantity == "comp_s" and seconds > 0:
                places = found.setdefault(f"{COMPUTATION}{behind}", {})
                _slowest(places.setdefault(hosts[rank], {}), int(facts["repetition"]), seconds)
            if quantity == "comm_s" and seconds > 0:
                pair = f"{hosts[rank % half]} and {hosts[(rank % half + half) % len(hosts)]}"
                places = found.setdefault(f"{TRANSFER}{behind}", {})
                _slowest(places.setdefault(pair, {}), int(facts["repetition"]), seconds)
    return found


def _slowest(rounds: dict[int, float], round_: int, seconds: float) -> None:
    rounds[round_] = max(seconds, rounds.get(round_, -math.inf))
