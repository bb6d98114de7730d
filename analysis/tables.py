# SPDX-License-Identifier: BSD-3-Clause
"""What tables say of sessions: a workload's time under each variant over bare's, with interval, budget and verdict;
where numbers come from.

Each ratio is a workload's whole time (or else its leading quantity) with the engine over the same without, of the
slowest rank, of a rate the time that a unit takes: more than 1 is slower. Where launches paused their engine by turns
it is of the pairs within them, else of a variant's launches and those of bare. What failed, or was not what it says it
is (an engine that was inactive), is a failure here, whatever its time.
"""

from __future__ import annotations

import argparse
import math
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
from scipy import special

from analysis.errors import UsageError
from analysis.evidence import SETTING, Array, Evidence
from analysis.records import frames
from analysis.records.frames import disturbed
from analysis.records.load import Records, load
from analysis.records.read import BEFORE, judged_by
from analysis.statistics.interval import (
    TAIL,
    Interval,
    chance_above,
    chance_below,
    holm,
    middle,
    ratio_of_medians,
    simultaneous,
)
from analysis.statistics.pairs import exponential, random_effects, ratio_of_pairs
from analysis.words import point_words


def tell(name: str, arguments: Sequence[str], about: str, table: Callable[[Evidence], str]) -> Evidence:
    """`python -m analysis.NAME SESSION...` prints a table; ends with status 2 where there is no such session."""
    parser = argparse.ArgumentParser(name, description=about)
    parser.add_argument("sessions", nargs="+", type=Path, metavar="SESSION")
    try:
        evidence = Evidence(load(parser.parse_args(arguments).sessions))
    except UsageError as error:
        parser.exit(2, f"{name}: {error}\n")
    print(table(evidence))
    return evidence


def page(evidence: Evidence, *lines: str, after: Iterable[str] = ()) -> str:
    """A whole document: its lines, where the numbers are from, what stands `after` that, what a reader must know."""
    said = map(source, evidence.records.sessions)
    return "\n".join([*lines, *said, *after, *evidence.records.cautions(), ""])


def numbers(interval: Interval) -> dict[str, Any]:
    """An interval as the columns of a figure's points."""
    return {"value": interval.value, "low": interval.low, "high": interval.high, "interval": interval.kind}


def source(session: dict[str, Any]) -> str:
    """A session's command, time, system, machine and commit, as an item of a list."""
    about = session.get("machine") or {}
    command = shlex.join(["./bench", *map(str, session.get("command") or [])])
    words = [
        str(session.get("created", "time unknown")),
        f"{session.get('system', 'unknown system')} ({session.get('network') or 'network unknown'})",
        f"{about.get('cpu_model', 'unknown CPU')}, {about.get('cores', '?')} cores, {about.get('cpus', '?')} CPUs"
        + (", a virtual machine" if about.get("virtual_machine") else ""),
        f"Linux {about.get('kernel', '?')}",
        f"commit {str((session.get('git') or {}).get('commit', 'unknown'))[:12]}",
    ]
    return f"- session {session['session']}: `{command}`, {', '.join(words)}"


PREFIX = "harm-"  # of its studies' names
BASE = "bare"
WHOLE = ("total_s", "elapsed_s")
SHARE = 0.02  # the budget: how much slower a workload may be
LOOKS = 2  # how often pairs are judged: by half of the launches, and by all
LATENCY_S = 100e-9  # the budget of a message's latency, where 2 % of it is less
SHORTEST_LATENCY_S = 1e-7  # no message is faster: what takes less is something else


class Harm(str, Enum):
    """What can be said of a workload under a variant."""

    NONE = ""
    HARMED = "harmed"
    UNCLEAR = "unclear"
    FAILED = "failed"
    SKIPPED = "skipped"
    UNCOMPARED = "no bare to compare with"


@dataclass(frozen=True)
class Cell:
    """One variant of a row: how many times as slow as bare it is, unless it failed or was skipped for `reason`."""

    harm: Harm
    ratio: Interval | None = None
    reason: str = ""
    disturbed: str = ""  # why it decides nothing, whatever the ratio is
    paired: bool = False  # within its launches, the engine on against paused; else launches against those of bare
    sees: float = math.nan  # of what is unclear: the smallest loss that would have been shown

    @property
    def status(self) -> str:
        """As a figure's row has it."""
        if self.ratio is not None:
            return "ok"
        return {Harm.SKIPPED: "skipped", Harm.UNCOMPARED: "missing"}.get(self.harm, "failed")

    @property
    def why(self) -> str:
        """Why it has no value, or decides nothing."""
        return self.reason or self.disturbed or (self.harm.value if self.ratio is None else "")

    def text(self) -> str:
        if self.ratio is None:
            return self.harm.value
        sees = f", sees {100 * self.sees:.1f} %" if math.isfinite(self.sees) else ""
        how = "" if self.paired else ", by launches"
        ratio = f"{self.ratio.value:.3f} [{self.ratio.low:.3f}, {self.ratio.high:.3f}]"
        return f"{ratio} {self.harm.value}".strip() + sees + how


@dataclass(frozen=True)
class Row:
    """One workload on one MPI. `bare`: None where that failed, and then there is nothing to compare with."""

    workload: str
    point: str
    mpi: str
    session: str
    quantity: str
    rate: bool  # of which more is better
    system: str
    allowed: float  # how many times as slow as bare it may be
    bare: Interval | None  # or with the engine paused, where bare was not launched
    cells: dict[str, Cell]
    study: str = ""


def rows(evidence: Evidence, study: str = "") -> list[Row]:
    """Every workload that was measured, or the one of `study`, as the records name them."""
    points = evidence.records.points
    mine = points[points["study"].astype(str).str.startswith(study or PREFIX)] if len(points) else points
    mine = mine[mine["study"] == study] if study else mine
    ordered = ["study", "point", *SETTING]
    found = [_row(evidence, dict(zip(ordered, keys, strict=True)), part) for keys, part in frames.groups(mine, ordered)]
    for name in dict.fromkeys(name for row in found for name in row.cells):
        correct([row for row in found if name in row.cells], name)
    return found


def correct(found: Sequence[Row], variant: str) -> None:
    """Of many workloads one looks harmed, or within its budget, by chance: what is said of a variant is so over all
    rows at once (Holm), and over the looks at pairs. Each says what it could have seen."""
    judged = [row for row in found if (ratio := row.cells[variant].ratio) and ratio.defensible]
    if not judged:
        return
    cells = [row.cells[variant] for row in judged]
    pairs = [(cast(Interval, cell.ratio), row.allowed) for cell, row in zip(cells, judged, strict=True)]
    above, below = holm([chance_above(*pair) for pair in pairs]), holm([chance_below(*pair) for pair in pairs])
    for row, cell, over, under in zip(judged, cells, above, below, strict=True):
        level = TAIL / LOOKS if cell.paired else TAIL
        harm = {over <= level: Harm.HARMED, under <= level: Harm.NONE}.get(True, Harm.UNCLEAR)
        apart = simultaneous(cast(Interval, cell.ratio), len(judged) * (LOOKS if cell.paired else 1))
        sees = max(0.0, row.allowed - 1) + apart.value - apart.low
        row.cells[variant] = replace(cell, harm=Harm.UNCLEAR if cell.disturbed else harm, sees=sees)


def enough(found: Sequence[Row], many: int) -> bool:
    """Whether all pairs of these rows, of `many` that are judged at once, are decided before the last look."""
    cells = [(row.allowed, cell) for row in found for name, cell in row.cells.items() if name != BASE]
    level = TAIL / LOOKS / many
    return all(
        cell.paired
        and cell.ratio is not None
        and cell.ratio.defensible
        and min(chance_above(cell.ratio, allowed), chance_below(cell.ratio, allowed)) <= level
        for allowed, cell in cells
    )


def ratios(found: Iterable[Row], variant: str) -> list[tuple[str, Interval]]:
    """Each workload with what a variant costs it."""
    cells = ((row.workload, row.cells[variant].ratio) for row in found if variant in row.cells)
    return [(workload, ratio) for workload, ratio in cells if ratio]


def pooled(found: Iterable[tuple[str, Interval]]) -> Interval:
    """What a variant costs over all workloads together: the geometric mean of their ratios, as workloads differ (random
    effects). One on several MPIs counts once."""
    of_workload: dict[str, list[tuple[float, float]]] = {}
    for workload, ratio in found:
        if ratio.defensible and ratio.low > 0:
            error = math.log(ratio.high / ratio.low) / 2 / float(special.stdtrit(ratio.freedom, 1 - TAIL))
            of_workload.setdefault(workload, []).append((math.log(ratio.value), error))
    means = [np.mean([value for value, _ in ones]) for ones in of_workload.values()]
    errors = [math.sqrt(sum(error**2 for _, error in ones)) / len(ones) for ones in of_workload.values()]
    kind = f"95 % interval over {len(means)} workloads"
    return exponential(random_effects(means, errors, kind))


def _row(evidence: Evidence, keys: dict[str, Any], part: pd.DataFrame) -> Row:
    quantity, rate = _quantity(evidence.records, part)
    by_variant = {str(name): group for (name,), group in frames.groups(part, ["variant"])}
    launches = {name: times(evidence.records, group, quantity, rate) for name, group in by_variant.items()}
    bad = {name: failure(group) for name, group in by_variant.items()}
    bare = [] if bad.get(BASE) else launches.get(BASE, [])
    within = {name: evidence.pairs(group, quantity, rate) for name, group in by_variant.items()}
    without = bare or next(([off for _, off in both] for name, both in within.items() if both and not bad[name]), [])
    allowed = _allowed(quantity, rate, without)
    cells = {}
    for name, found in launches.items():
        if failed := bad[name]:
            cells[name] = failed
        elif both := within[name]:
            ratio = ratio_of_pairs([np.log(on / off) for on, off in both])
            few = (
                "" if math.isfinite(ratio.value) else "pairs of one launch alone, or too few of them, have no interval"
            )
            # The engine itself takes the CPU from the program: that is what is measured, in the one half of each pair.
            taken = disturbed(evidence.disturbance(by_variant[name], by_switches=False))
            cells[name] = Cell(Harm.UNCLEAR, None if few else ratio, reason=few, disturbed=taken, paired=True)
        elif name != BASE and not bare:
            cells[name] = Cell(Harm.UNCOMPARED)
        elif name != BASE:
            taken = evidence.state(part[part["variant"].isin([name, BASE])])[0]
            cells[name] = Cell(Harm.UNCLEAR, ratio_of_medians(found, bare), disturbed=taken)
    return Row(
        workload=str(keys["study"]).removeprefix(PREFIX).replace("-", " ", 1),
        point=point_words(keys["point"]),
        mpi=str(keys["mpi"]),
        session=str(keys["session"]),
        quantity=quantity,
        rate=rate,
        system=str(keys["system"]),
        allowed=allowed,
        bare=middle(without) if without else None,
        cells=cells,
        study=str(keys["study"]),
    )


def _quantity(records: Records, part: pd.DataFrame) -> tuple[str, bool]:
    """The workload's whole time, or else what it is about; and whether that is a rate. Empty: nothing was measured."""
    launches = records.launches
    said = launches.loc[launches["launch"].isin(part["launch"]), "quantities"]
    declared = {name: found for of_launch in said for name, found in of_launch.items()}
    wanted = (*WHOLE, *(name for name, _ in judged_by(declared)))
    # Of a quantity with very many samples a long launch has only the histogram.
    sides = [group.index for _, group in frames.groups(part[part["status"] == "ok"], ["variant"])]
    quantity = next((name for name in wanted if sides and all(_has(records, name, side) for side in sides)), "")
    known = declared.get(quantity) or BEFORE.get(quantity)
    return quantity, known is not None and known.sign < 0


def _has(records: Records, quantity: str, rows: Iterable[int]) -> bool:
    """Whether one of the rows has samples of it."""
    return any((row, quantity) in records.spans for row in rows)


def times(records: Records, part: pd.DataFrame, quantity: str, rate: bool) -> list[Array]:
    """Per launch that was measured well the slowest rank's samples; of a rate the times that a unit took."""
    good = part.loc[part["status"] == "ok", "launch"]
    found: dict[str, list[Array]] = {}
    for row, launch in zip(good.index, good, strict=True):
        values = records.series_values(*records.spans.get((row, quantity), (0, 0)))
        if len(values):
            found.setdefault(launch, []).append(1 / values if rate else values)
    return [max(ranks, key=lambda values: float(np.median(values))) for ranks in found.values()]


def failure(part: pd.DataFrame) -> Cell | None:
    """What is wrong with a variant's launches, None if nothing: one that failed on a rank and was not run since. What
    was left out as enough was known is nothing wrong."""
    needed = ~part["reason"].fillna("").astype(str).str.startswith(frames.NOT_NEEDED)
    for _, launch in frames.groups(part[needed], ["launch"]):
        good = launch["status"] == "ok"
        if set(launch["rank"]) - set(launch.loc[good, "rank"]):
            last = launch[~good].iloc[-1]
            harm = Harm.SKIPPED if last["status"] == "skipped" else Harm.FAILED
            return Cell(harm, reason=str(last["reason"]))
    return None


def _allowed(quantity: str, rate: bool, bare: Sequence[Array]) -> float:
    """How many times as slow as bare a workload may be."""
    middle = float(np.median([np.median(launch) for launch in bare])) if bare else 0.0
    is_time = quantity.endswith("_s") and not rate
    return 1 + max(SHARE, LATENCY_S / middle if is_time and middle > SHORTEST_LATENCY_S else 0)
