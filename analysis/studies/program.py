# SPDX-License-Identifier: BSD-3-Clause
"""Does the engine help the program that a user named? A table, a figure and a sentence a variant; nothing is
claimed of it.

The time is the one that the program prints, if a regular expression was given that finds it, else that of the whole
launch. Of a variant that was also launched with its engine going off and on by turns, what an operation takes with it
on over what it takes with it off can show a difference as well: how fast a launch is cancels in that. It is no proof of
none, as an effect that reaches into the next turn makes it smaller. What was pending while the program computed, and so
could have been hidden, says the engine's own report; of a program with windows it cannot say it.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from analysis.evidence import Evidence
from analysis.figures import intervals
from analysis.figures.toolkit import Drawn
from analysis.records.load import Records
from analysis.statistics.interval import ENOUGH_LAUNCHES, NO_VALUE, Interval, median_interval, simultaneous
from analysis.subject import Subject
from analysis.tables import BASE, Cell, Harm, Row, numbers, page, rows
from analysis.text_table import markdown
from analysis.words import change_text, mpi_title, seconds_text

STUDY = "own-program"
PRINTED = "printed_time"
NOTHING = 0.01  # of the run's time: what is pending for less is not worth an engine, as its own advice has it
UNDECIDED = (" cannot be judged", " may help or cost", " probably")
TURNS = ":trial_ms="  # the setting that does so, behind the variant's name
RARER = 10  # than outside of a 95 % interval: one word of two hundred is wrong where nothing differs
LEAST = 0.02  # a smaller difference is of no interest, however certain; an interval within this of 1 says there is none


@dataclass(frozen=True)
class Told:
    """What is said of a variant; `pending_s`: the median over launches of the worst rank, None where not known."""

    variant: str
    cell: Cell
    time: float | None
    pending_s: float | None
    sentence: str


def told(evidence: Evidence) -> Iterator[tuple[Row, list[Told]]]:
    """Each program that was compared, with what is said of its variants. Of several one may look better or worse by
    chance alone, so their intervals hold at the same time."""
    for row in rows(evidence, STUDY):
        cells = {name: cell for name, cell in row.cells.items() if name != BASE}
        by_turns = {name.partition(TURNS)[0]: name for name, cell in cells.items() if TURNS in name and cell.ratio}
        for name in set(by_turns) & set(cells):
            del cells[by_turns[name]]
        within = {name: _within(evidence.records, row, by_turns.get(name, "")) for name in cells}
        compared = sum(cell.ratio is not None for cell in cells.values()) + sum(map(bool, within.values()))
        for name, cell in cells.items():
            if cell.ratio is not None:
                cells[name] = replace(cell, ratio=simultaneous(cell.ratio, compared))
            if one := within[name]:
                within[name] = simultaneous(one, compared)
        yield row, [_told(evidence.records, row, name, cell, within[name]) for name, cell in cells.items()]


def name_of(records: Records, row: Row) -> str:
    """The program's own name."""
    mine = records.launches[records.launches["session"] == row.session]["workload"].dropna()
    return str(mine.iloc[0]) if len(mine) else row.workload


def unusable(evidence: Evidence) -> str:
    """Why nothing could be compared; empty if something could."""
    found = list(rows(evidence, STUDY))
    without = [row for row in found if row.bare is None]
    reasons = [row.cells[BASE].reason for row in without if BASE in row.cells]
    if found and not without:
        return ""
    return reasons[0].rstrip(".") if reasons else "the program was not run"


def _told(records: Records, row: Row, variant: str, cell: Cell, within: Interval | None) -> Told:
    pending = _pending(records, row, variant)
    if cell.ratio is None or row.bare is None:
        why = f"{cell.harm.value}: {cell.reason}" if cell.reason else cell.harm.value
        said = why if cell.harm is Harm.SKIPPED else f"rejected, {why}"
        return Told(variant, cell, None, pending, f"{variant}: {said}.")
    time = row.bare.value * cell.ratio.value
    whole = _whole(records, row, variant)
    numbers = f"{time_text(row, time)} instead of {time_text(row, row.bare.value)}, {ratio_text(cell.ratio)}"
    doubt = f" Measure again: {cell.disturbed}." if cell.disturbed else ""
    numbers += f"; on against off within launches {ratio_text(within)}" if within else ""
    why = _pending_words(pending, whole, _windows(records, row, variant))
    said = f"{variant} {_word(cell, within, pending, whole)} ({numbers}; {why}).{doubt}"
    return Told(variant, cell, time, pending, said)


def _word(cell: Cell, within: Interval | None, pending: float | None, whole: float) -> str:
    known = [simultaneous(one, RARER) for one in (cell.ratio, within) if one and one.defensible]
    if not known:
        return f"cannot be judged by the {cell.ratio.kind.partition(' (')[0] if cell.ratio else 'launches'}"
    costs = any(one.low > 1 and one.value >= 1 + LEAST for one in known)
    helps = any(one.high < 1 and one.value <= 1 - LEAST for one in known)
    whole_too = cell.ratio is not None and cell.ratio.defensible
    alike = whole_too and known[0].low > 1 - LEAST and known[0].high < 1 + LEAST
    likely = cell.ratio if whole_too and not (costs and helps) else None
    calm, wanted = not cell.disturbed, "a quiet machine" if cell.disturbed else "more launches"
    words = {
        "costs": costs and not helps and calm,
        "has nothing to do here: leave it off": pending is not None and pending < NOTHING * whole,
        "helps": helps and not costs and calm,
        "makes no difference: leave it off": alike and not costs and not helps and calm,
        f"probably helps: {wanted} can make it certain": likely is not None and likely.high < 1,
        f"probably costs: {wanted} can make it certain": likely is not None and likely.low > 1,
        f"may help or cost: {wanted} can tell": True,
    }
    return next(word for word, so in words.items() if so)


def _pending_words(pending: float | None, whole: float, windows: bool) -> str:
    if windows:
        return "it has windows: what others do in them while it computes is not counted as pending"
    if pending is None:
        return "what was pending while it computed is not known, this variant does not see it"
    share = 100 * pending / whole if whole > 0 else 0.0
    return f"operations were pending while it computed for {seconds_text(pending)}, {share:.1f} % of the whole time"


def _of_variant(records: Records, row: Row, variant: str) -> Iterator[tuple[float, list[dict[str, Any]]]]:
    """Of each good launch its whole time, and the report of each rank's engine."""
    launches = records.launches
    mine = launches[
        (launches["session"] == row.session) & (launches["variant"] == variant) & (launches["status"] == "ok")
    ]
    for whole, engines in zip(mine["elapsed_s"], mine["engines"], strict=True):
        yield float(whole), list(engines)


def _within(records: Records, row: Row, variant: str) -> Interval | None:
    """The time of an operation with the engine on over that with it off, of each launch the middle rank's."""
    told = [
        [found["armed_s"] / found["disarmed_s"] for one in engines if (found := one["verdict"])["armed_phases"]]
        for _, engines in _of_variant(records, row, variant)
    ]
    ratios = [statistics.median(ranks) for ranks in told if ranks]
    return median_interval(ratios) if ratios else None


def _windows(records: Records, row: Row, variant: str) -> bool:
    """Whether others may have reached into windows: then a rank with nothing pending can have something to win."""
    return any(one.get("windows") for _, engines in _of_variant(records, row, variant) for one in engines)


def _pending(records: Records, row: Row, variant: str) -> float | None:
    if _windows(records, row, variant):
        return None
    every = ([one.get("pending_while_computing_s") for one in ranks] for _, ranks in _of_variant(records, row, variant))
    known = ([value for value in ranks if value is not None] for ranks in every)
    worst = [max(ranks) for ranks in known if ranks]
    return statistics.median(worst) if worst else None


def _whole(records: Records, row: Row, variant: str) -> float:
    return statistics.median([whole for whole, _ in _of_variant(records, row, variant)] or [0.0])


def time_text(row: Row, value: float) -> str:
    return f"{value:.4g}" if row.quantity == PRINTED else seconds_text(value)


def ratio_text(ratio: Interval) -> str:
    return change_text(ratio.value, ratio.low, ratio.high)


def document(evidence: Evidence) -> str:
    """Table and verdicts as Markdown."""
    lines: list[str] = []
    for row, found in told(evidence):
        what = "the time that it prints" if row.quantity == PRINTED else "its whole time"
        bare = time_text(row, row.bare.value) if row.bare else "not measured"
        lines += [f"# {name_of(evidence.records, row)} on {mpi_title(row.mpi)}", ""]
        cells = [
            [one.variant, "–" if one.time is None else time_text(row, one.time),
             ratio_text(one.cell.ratio) if one.cell.ratio else one.cell.harm.value,
             "not known" if one.pending_s is None else seconds_text(one.pending_s)]
            for one in found
        ]  # fmt: skip
        head = ["variant", what, "against bare", "pending while it computed"]
        lines += [*markdown(head, [[BASE, bare, "–", "not known"], *cells]), "", *(one.sentence for one in found), ""]
        helping = [one for one in found if one.sentence.startswith(f"{one.variant} helps")]
        if len(helping) > 1:
            best = min(helping, key=lambda one: one.time or 0.0)
            lines += [f"Of these {len(helping)} it takes the least time with {best.variant}.", ""]
        if any(one.sentence.removeprefix(one.variant).startswith(UNDECIDED) for one in found):
            taken = sum(1 for _ in _of_variant(evidence.records, row, BASE))
            wanted = max(ENOUGH_LAUNCHES, 2 * taken)
            lines += [f"More launches: `./bench run --resume {row.session} --launches {wanted}`", ""]
    return page(evidence, *lines)


def draw(evidence: Evidence, provenance: str) -> list[Drawn]:
    """Each variant's time over that of bare, with its interval."""
    found, sentences = [], []
    for row, variants in told(evidence):
        sentences += [one.sentence for one in variants]
        for one in variants:
            found.append(
                {"label": name_of(evidence.records, row), "session": row.session, "system": row.system, "study": STUDY,
                 "mpi": row.mpi, "variant": one.variant, "quantity": row.quantity,
                 "pending_while_computing_s": one.pending_s, **numbers(one.cell.ratio or NO_VALUE),
                 "status": "ok" if one.cell.ratio else "failed", "reason": one.cell.reason}
            )  # fmt: skip
    formula = (
        "its time under a variant over its time under bare, medians over alternated launches (less than 1 is faster)"
    )
    title, lines = "One's own program under the engine", {"bare": 1.0}
    said = " ".join(sentences)
    return intervals.draw(
        evidence, provenance, found, "own_program", title, formula, "time / bare", lines, lambda _: said
    )


SUBJECT = Subject(
    "own-program", (STUDY,), "", "one's own program", figures=(draw,), note="nothing is claimed of a user's program"
)

SUBJECTS = (SUBJECT,)
