# SPDX-License-Identifier: BSD-3-Clause
"""What the records say, in sentences: does an MPI progress by itself, what does its own thread do, what the engine?

Everything is read off the metric frame at comp = comm, where overlap is worth most; nothing is said without its number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from analysis.metrics.evaluate import REFERENCE, at_equal
from analysis.metrics.formulas import COMP_EQUALS_COMM, efficiency_says_little
from analysis.metrics.times import LIMIT, rounds_words
from analysis.metrics.times import doubts as limit_doubts
from analysis.records import frames
from analysis.records.frames import took
from analysis.report.answer import ENGINE_ORDER, HIDES_LITTLE, Answer, Setting, answers, heading, settings
from analysis.statistics.interval import ENOUGH_LAUNCHES, WIDE
from analysis.words import added_text, bytes_text, in_order, plain, point_words, seconds_text

# Overlap efficiency from which / below which an MPI counts as progressing / not.
PROGRESSES, DOES_NOT = 0.85, HIDES_LITTLE
PREFERRED_SIZE = 4 << 20
ENGINE = ENGINE_ORDER[0]
TOLD = ("bare", "mpi-async", ENGINE)  # of sizes beside the one that is told of


@dataclass
class MpiVerdict:
    """What is said of one MPI: a headline and sentences; `where` says at which point."""

    mpi: str
    headline: str
    where: str = ""
    sentences: list[str] = field(default_factory=list)


@dataclass
class Verdict:
    """The verdict of sessions: the answers in time, what is said of each MPI, and what limits it."""

    mpis: list[MpiVerdict]
    limits: list[str]
    answers: list[Answer] = field(default_factory=list)
    unknown: str = ""  # why nothing is said of any MPI

    def answer(self) -> str:
        """The answers alone, a line a MPI."""
        return "\n".join([heading(self.answers), *(f"  {one.sentence}" for one in self.answers)])

    def text(self) -> str:
        """Plain text for a terminal."""
        lines = [self.answer()] if self.answers else []
        for mpi in self.mpis:
            lines.append(f"{mpi.headline} {mpi.where}".rstrip())
            lines += [f"  {sentence}" for sentence in mpi.sentences]
        return "\n".join([*lines, self.unknown, *self.limits]).strip()


def verdict(frame: pd.DataFrame, simulated: Callable[[str], bool] = lambda _session: False) -> Verdict:
    """The verdict from the frame of evaluate(). Without the study it says that it was not measured. Of sessions
    that are `simulated` it says that a model predicted it."""
    equal = _with_time_added(frame, at_equal(frame)) if len(frame) else frame
    if not len(equal):
        return Verdict([], [], unknown="Whether communication progresses was not measured: no overlap study.")
    found = list(settings(equal, simulated))
    return Verdict(list(map(_of_mpi, found)), _limits(equal), answers(found))


def _with_time_added(frame: pd.DataFrame, equal: pd.DataFrame) -> pd.DataFrame:
    """The rows with columns added_value, _low and _high: added_time of the same point and variant."""
    keys = ["session", "system", "mpi", "study", "variant", "point"]
    numbers = {name: f"added_{name}" for name in ("value", "low", "high")}
    added = frame[frame["metric"] == "added_time"][[*keys, *numbers]].rename(columns=numbers)
    return equal.merge(added, on=keys, how="left")


def _of_mpi(setting: Setting) -> MpiVerdict:
    mpi, title, pattern, part = setting.mpi, setting.title, setting.pattern, setting.rows.assign(how=setting.how)
    sizes = sorted(part["size_bytes"].unique())
    size = PREFERRED_SIZE if PREFERRED_SIZE in sizes else sizes[-1]
    chosen = part[part["size_bytes"] == size]
    facts = _facts(chosen)
    bare = facts.get("bare")
    if bare is None or not np.isfinite(bare["value"]):
        why = bare["why"] if bare else "the variant bare was not run, so there is no reference"
        return MpiVerdict(mpi, f"{title}: no verdict,", f"because {why}.")
    predicted = "Predicted: " if bare["how"] == "predicted" else ""
    alone = [(one, _facts(part[part["size_bytes"] == one]).get("bare")) for one in sizes]
    headline = _of_sizes(title, [(one, fact) for one, fact in alone if fact]) or _headline(title, bare)
    found = MpiVerdict(mpi, predicted + headline, _where(size, pattern, bare, len(sizes) > 1))
    found.sentences = [_bare_sentence(bare), *_own_thread(title, facts.get("mpi-async"), bare), *_engine(facts, bare)]
    found.sentences += [
        *_of_the_limit(facts),
        *_not_certain(facts),
        *_other_points(chosen),
        *_other_sizes(part, [other for other in sizes if other != size]),
    ]
    return found


def _facts(part: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """variant -> its efficiency with interval, and its inflation."""
    facts = {}
    for (variant,), rows in frames.groups(part, ["variant"]):
        efficiency = frames.rows(rows[rows["metric"] == "overlap_efficiency"])[0]
        inflation = rows[rows["metric"] == "compute_inflation"]["value"]
        note = efficiency.get("note")
        reason = efficiency.get("reason") or (note if isinstance(note, str) else "") or "no usable samples"
        named = "" if efficiency["status"] in ("ok", "partial") else f"{efficiency['status']}: "
        facts[variant] = {**efficiency, "inflation": float(inflation.iloc[0]), "why": f"{named}{reason}"}
    return facts


def _other_points(part: pd.DataFrame) -> list[str]:
    """Points that differ from those told of in something else than size, pattern and comp / comm."""
    told = part.drop_duplicates("variant")["point"]
    others = part.loc[~part["point"].isin(told), "point"].unique()
    if not len(others):
        return []
    return [f"This is of {'; '.join(map(point_words, told.unique()))}; the tables have {len(others)} other points."]


def _doubts(fact: dict[str, Any]) -> list[str]:
    """Why a value, whatever its interval, is no proof yet; empty where it is."""
    launches = int(fact["launches"])
    said = []
    if not fact["defensible"] and launches < ENOUGH_LAUNCHES:
        few = f"{launches} launch{'es were' if launches != 1 else ' was'} {fact['how']}"
        said.append(f"only {few} and {ENOUGH_LAUNCHES} are needed")
    elif not fact["defensible"]:
        kinds = "two kinds" in fact["interval"]
        said.append("the launches fall into two kinds" if kinds else f"there is but a {fact['interval']}")
    return [*said, *filter(None, [took(fact["disturbance"])])]


def _remarks(fact: dict[str, Any]) -> list[str]:
    """What a reader must know of a value, though its interval over launches holds it: the same rule as for claims."""
    said = []
    if fact["converged"] is False:
        said.append(f"the samples of {fact['unconverged']} of {int(fact['launches'])} launches still changed")
    if fact["variant"] == REFERENCE and fact["noisy"]:
        said.append(f"the time is known to no better than {100 * WIDE:g} %")
    return said


def _partial(fact: dict[str, Any]) -> list[str]:
    """That a value is of some launches only, since others failed: the same rule as for claims."""
    return [f"some launches failed ({fact['reason']})"] if fact["status"] == "partial" else []


def _not_certain(facts: dict[str, dict[str, Any]]) -> list[str]:
    """The doubts and remarks about the variants that were told of, equal ones together."""
    engine = [variant for variant in ENGINE_ORDER if variant in facts][:1]
    told = [name for name in ("bare", "mpi-async", *engine) if name in facts and np.isfinite(facts[name]["value"])]

    mine = {name: facts[name] for name in told}
    doubts = [f"Not certain: of {whose} {doubt}." for doubt, whose in _of_whom(mine, _doubts).items()]
    doubts += [f"Of {whose} {said}." for said, whose in _of_whom(mine, _partial).items()]
    return doubts + [
        f"Of {whose} {said}; the interval over launches includes that."
        for said, whose in _of_whom(mine, _remarks).items()
    ]


def _of_whom(facts: Mapping[str, dict[str, Any]], found: Callable[[dict[str, Any]], list[str]]) -> dict[str, str]:
    """What is found -> the variants of which it is said: equal ones together."""
    said = {name: found(fact) for name, fact in facts.items()}
    every = dict.fromkeys(what for mine in said.values() for what in mine)
    return {what: ", ".join(name for name, mine in said.items() if what in mine) for what in every}


def _of_the_limit(facts: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """How near the engine comes, from variant -> its row of overlap efficiency; nothing where that is not known."""
    share = facts.get(ENGINE, {}).get("against_limit_value", np.nan)
    if np.isfinite(share):
        low, high = (facts[ENGINE][f"against_limit_{side}"] for side in ("low", "high"))
        compared = [facts[name] for name in (ENGINE, LIMIT, REFERENCE) if name in facts]
        doubted = limit_doubts(facts[ENGINE], compared)
        yield (
            f"The engine ({ENGINE}) reaches {share:.2f} ({low:.2f} to {high:.2f}, {rounds_words(facts[ENGINE])}) of "
            f"what a minimal program without MPI reaches here, whose efficiency is {number(dict(facts[LIMIT]))}."
            + (f" That is not certain: {' and '.join(doubted)}." if doubted else "")
        )


def _of_sizes(title: str, bare: list[tuple[float, dict[str, Any]]]) -> str:
    """The headline where sizes differ, the shortest first; empty where they do not."""
    told, differ = [], False
    for seen, run in groupby(bare, lambda one: _progress(one[1])):
        facts = [(bytes_text(size), fact) for size, fact in run]
        where = f"from {facts[0][0]} to {facts[-1][0]}" if facts[1:] else f"at {facts[0][0]}"
        doubted = [size for size, fact in facts if seen.hint and _doubts(fact)]
        differ |= 0 < len(doubted) < len(facts)
        at = f" at {', '.join(doubted)}" if len(doubted) < len(facts) else ""
        told.append(f"{where} it {seen.shown}{f' (not certain{at})' if doubted else ''}")
    return f"{title}: {'; '.join(told)}." if differ or told[1:] else ""


def _headline(title: str, bare: dict[str, Any]) -> str:
    """What is shown, or what the numbers point to where something speaks against calling it shown."""
    seen, doubts = _progress(bare), _doubts(bare)
    if seen.hint and doubts:
        return f"{title}: this points to {seen.hint}, but {' and '.join(doubts)}."
    return f"{title} {seen.shown}."


class Seen(NamedTuple):
    """What an MPI does, and in other words where that is not certain; no others where it says so itself."""

    shown: str
    hint: str = ""


def _progress(bare: dict[str, Any]) -> Seen:
    if not np.isfinite(bare["value"]):
        return Seen("has no value")
    if bare["low"] >= PROGRESSES:
        return Seen("progresses by itself", "progress by itself")
    if bare["high"] < DOES_NOT:
        return Seen("does not progress while the program computes", "no progress while the program computes")
    if bare["low"] >= DOES_NOT and bare["high"] < PROGRESSES:
        return Seen("progresses in part by itself", "progress in part by itself")
    return Seen("varies too much to tell how far it progresses by itself")


def _where(size: float, pattern: str, bare: dict[str, Any], of_several: bool) -> str:
    sides = {"both": "both sides compute", "sender": "the sender computes", "receiver": "the receiver computes"}
    told = "the numbers: " if of_several else ""
    return f"({told}{bytes_text(size)} messages, {sides.get(pattern, pattern)}, {_ratio(bare)})"


def _is_equal(bare: dict[str, Any]) -> bool:
    return bool(abs(bare["comp_over_comm_measured"] - 1) <= COMP_EQUALS_COMM)


def _ratio(bare: dict[str, Any]) -> str:
    """Of computation and communication: the work is that of the MPI that was calibrated, and an efficiency is of the
    shorter of both, whatever the ratio."""
    measured = bare["comp_over_comm_measured"]
    if _is_equal(bare):
        return f"computation as long as communication: {bare['how']} ratio {measured:.2f}"
    return f"the computation {measured:.2f} times as long as the communication, {bare['how']}"


def number(fact: dict[str, Any]) -> str:
    """0.93 (0.91 to 0.95)."""
    value, low, high = (plain(fact[key]) for key in ("value", "low", "high"))
    return f"{value} ({low} to {high})"


def _bare_sentence(bare: dict[str, Any]) -> str:
    if efficiency_says_little(bare["low"], bare["high"]):
        return f"As it is it {_efficiency(bare)} to perfect overlap; an overlap efficiency says little here."
    return f"As it is: overlap efficiency {number(bare)}, where 1 is perfect and 0 is one after the other."


def _own_thread(title: str, fact: dict[str, Any] | None, bare: dict[str, Any]) -> list[str]:
    if fact is None or not np.isfinite(fact["value"]):
        return [
            f"Its own progress thread: no value ({fact['why']})."
            if fact
            else f"{title}'s own progress thread was not measured."
        ]
    return [f"Its own progress thread {_change(fact, bare)}: {_efficiency(fact)}; {_inflation(fact)}."]


def _engine(facts: dict[str, dict[str, Any]], bare: dict[str, Any]) -> list[str]:
    present = [variant for variant in ENGINE_ORDER if variant in facts]
    if not present:
        return ["The progress engine was not measured."]
    fact = facts[present[0]]
    if not np.isfinite(fact["value"]):
        return [f"The engine ({present[0]}): no value ({fact['why']})."]
    return [f"The engine ({present[0]}) {_change(fact, bare)}: {_efficiency(fact)}; {_inflation(fact)}."]


def _change(fact: dict[str, Any], bare: dict[str, Any]) -> str:
    """What the variant does to the overlap; only intervals that do not touch count as a change."""
    if fact["low"] > bare["high"]:
        return "makes it overlap" if fact["low"] >= PROGRESSES else "makes it overlap more"
    if fact["high"] < bare["low"]:
        return "makes it slower than no overlap at all" if fact["high"] < 0 else "makes it overlap less"
    return "changes nothing that can be seen in the overlap"


def _inflation(fact: dict[str, Any]) -> str:
    if not np.isfinite(fact["inflation"]):
        return "what that costs the computation was not measured"
    return f"the computation takes {fact['inflation']:.2f} times as long"


def _other_sizes(part: pd.DataFrame, sizes: list[float]) -> list[str]:
    """ "At 64 KB: bare 0.10 (0.08 to 0.12), adaptive no value (timeout: hung); not certain: of bare ..." """
    sentences = []
    for size in sizes:
        facts = _facts(part[part["size_bytes"] == size])
        bare = facts.get("bare")
        mine = {name: facts[name] for name in TOLD if name in facts and facts[name]["status"] != "missing"}
        if mine:
            shown = ", ".join(f"{name} {_efficiency(fact)}" for name, fact in mine.items())
            known = {name: fact for name, fact in mine.items() if np.isfinite(fact["value"])}
            doubts = [f"not certain: of {whose} {doubt}" for doubt, whose in _of_whom(known, _doubts).items()]
            partial = [f"of {whose} {said}" for said, whose in _of_whom(known, _partial).items()]
            at = bytes_text(size)
            if bare and np.isfinite(bare["value"]) and not _is_equal(bare):
                at += f" ({_ratio(bare)})"
            sentences.append("; ".join([f"At {at}: {shown}", *doubts, *partial]) + ".")
    return sentences


def _efficiency(fact: dict[str, Any]) -> str:
    """The value with its interval, or the time added to perfect overlap where a short message makes it say little."""
    if not np.isfinite(fact["value"]):
        return f"no value ({fact['why']})"
    if not efficiency_says_little(fact["low"], fact["high"]):
        return number(fact)
    if np.isfinite(fact["added_value"]):
        return added_text(fact["added_value"], fact["added_low"], fact["added_high"])
    added = fact["total_s"] - max(fact["reference_comp_s"], fact["reference_comm_s"])
    return f"adds {seconds_text(added)}, interval not computed".replace("-", "−")


def _limits(equal: pd.DataFrame) -> list[str]:
    """What keeps the numbers from being more than they are."""
    limits = []
    valued = equal[equal["value"].notna()]
    loose = valued[~valued["defensible"].astype(bool)]
    few = loose[loose["launches"] < ENOUGH_LAUNCHES] if len(loose) else loose
    if len(few):
        fewest = int(few["launches"].min())
        whose = ", ".join(in_order(few["variant"], ["bare", "mpi-async", *ENGINE_ORDER]))
        limits.append(
            f"The ranges of {whose} are spreads over {fewest} launch{'es' if fewest != 1 else ''} and not 95 % "
            f"intervals: run again with --launches {ENOUGH_LAUNCHES}."
        )
    bad = equal[(equal["metric"] == "overlap_efficiency") & equal["value"].isna()]
    if len(bad):
        limits.append(
            f"{len(bad)} of {len(equal) // 2} points at comp = comm have no value; the report says why for each."
        )
    if said := took(valued["disturbance"].max(), "up to "):
        limits.append(f"The machine was disturbed: {said}.")
    return limits
