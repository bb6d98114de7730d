# SPDX-License-Identifier: BSD-3-Clause
"""What tables say of sessions: a workload's time under each variant over bare's, with interval, budget and verdict;
where numbers come from.

Each ratio is a workload's whole time (or else its leading quantity) under a variant over the same under bare, of the
slowest rank, of a rate the time that a unit takes: more than 1 is slower. What failed, or was not what it says it is
(an engine that was inactive), is a failure here, whatever its time.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd

from analysis.errors import UsageError
from analysis.evidence import SETTING, Array, Evidence
from analysis.records import frames
from analysis.records.load import Records, load
from analysis.records.read import BEFORE, judged_by
from analysis.statistics.bootstrap import middle, ratio_of_medians
from analysis.statistics.interval import TAIL, Interval, chance_above, holm, simultaneous
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
    command = " ".join(["./bench", *map(str, session.get("command") or [])])
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
        return f"{self.ratio.value:.3f} [{self.ratio.low:.3f}, {self.ratio.high:.3f}] {self.harm.value}".strip() + sees


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
    bare: Interval | None
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
    """Of many workloads one looks harmed by chance: what a variant is said to harm is so over all rows at once (Holm).
    What is left open says what it could have seen."""
    judged = [row for row in found if (ratio := row.cells[variant].ratio) and ratio.defensible]
    if not judged:
        return
    chances = holm([chance_above(cast(Interval, row.cells[variant].ratio), row.allowed) for row in judged])
    for row, chance in zip(judged, chances, strict=True):
        cell = row.cells[variant]
        if cell.harm is Harm.HARMED and chance > TAIL:
            cell = replace(cell, harm=Harm.UNCLEAR)
        if cell.harm is Harm.UNCLEAR and not cell.disturbed and cell.ratio:
            apart = simultaneous(cell.ratio, len(judged))
            cell = replace(cell, sees=row.allowed - 1 + apart.value - apart.low)
        row.cells[variant] = cell


def _row(evidence: Evidence, keys: dict[str, Any], part: pd.DataFrame) -> Row:
    quantity, rate = _quantity(evidence.records, part)
    by_variant = {str(name): group for (name,), group in frames.groups(part, ["variant"])}
    launches = {name: times(evidence.records, group, quantity, rate) for name, group in by_variant.items()}
    bad = {name: failure(group) for name, group in by_variant.items()}
    bare = [] if bad.get(BASE) else launches.get(BASE, [])
    allowed = _allowed(quantity, rate, bare)
    cells = {}
    for name, found in launches.items():
        if failed := bad[name]:
            cells[name] = failed
        elif name != BASE and not bare:
            cells[name] = Cell(Harm.UNCOMPARED)
        elif name != BASE:
            both = part[part["variant"].isin([name, BASE])]
            ratio = ratio_of_medians(found, bare)
            disturbed = evidence.state(both)[0]
            cells[name] = Cell(_judge(allowed, ratio, disturbed), ratio, disturbed=disturbed)
    return Row(
        workload=str(keys["study"]).removeprefix(PREFIX).replace("-", " ", 1),
        point=point_words(keys["point"]),
        mpi=str(keys["mpi"]),
        session=str(keys["session"]),
        quantity=quantity,
        rate=rate,
        system=str(keys["system"]),
        allowed=allowed,
        bare=middle(bare) if bare else None,
        cells=cells,
        study=str(keys["study"]),
    )


def _quantity(records: Records, part: pd.DataFrame) -> tuple[str, bool]:
    """The workload's whole time, or else what it is about; and whether that is a rate. Empty: nothing was measured."""
    launches = records.launches
    said = launches.loc[launches["launch"].isin(part["launch"]), "quantities"]
    declared = {name: found for of_launch in said for name, found in of_launch.items()}
    wanted = (*WHOLE, *(name for name, _ in judged_by(declared)))
    quantity = next((name for name in wanted if any((row, name) in records.places for row in part.index)), "")
    known = declared.get(quantity) or BEFORE.get(quantity)
    return quantity, known is not None and known.sign < 0


def times(records: Records, part: pd.DataFrame, quantity: str, rate: bool) -> list[Array]:
    """Per launch that was measured well the slowest rank's samples; of a rate the times that a unit took."""
    good = part.loc[part["status"] == "ok", "launch"]
    found: dict[str, list[Array]] = {}
    for row, launch in zip(good.index, good, strict=True):
        values = records.series_values(*records.places.get((row, quantity), (0, 0)))
        if len(values):
            found.setdefault(launch, []).append(1 / values if rate else values)
    return [max(ranks, key=lambda values: float(np.median(values))) for ranks in found.values()]


def failure(part: pd.DataFrame) -> Cell | None:
    """What is wrong with a variant's launches, None if nothing: one that failed on a rank and was not run since."""
    for _, launch in frames.groups(part, ["launch"]):
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


def _judge(allowed: float, ratio: Interval, disturbed: str) -> Harm:
    if disturbed or not ratio.defensible:
        return Harm.UNCLEAR
    if ratio.low > allowed:
        return Harm.HARMED
    return Harm.UNCLEAR if ratio.high > allowed else Harm.NONE
