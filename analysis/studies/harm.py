# SPDX-License-Identifier: BSD-3-Clause
"""H1: does the engine slow any workload down? The studies of the group `harm`, each variant on against paused, or
against bare."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from analysis.evidence import Evidence, Value
from analysis.figures import intervals
from analysis.figures.toolkit import Drawn
from analysis.records import frames
from analysis.statistics.interval import NO_VALUE
from analysis.subject import Claim, Subject
from analysis.tables import BASE, Harm, Row, numbers, page, pooled, ratios, rows
from analysis.text_table import markdown

HEAD = """# Harm

Written by `./bench harm`. Each value is a workload's whole time (or else its leading quantity) with the engine over
the same without, of a rate the other way round, in brackets its 95 % interval; more than 1 is slower. Each launch had
its engine on in one of each two repetitions and paused in the other, in random order: a value is of these pairs, its
interval one over launches. *by launches*: of launches under the variant and under `bare` (medians of medians).
*harmed*: shown to be above the budget (2 %, or 100 ns of a time of microseconds, where that is more); *unclear*:
neither that nor that it is within is shown, or there are fewer than six launches, or their machine was disturbed;
nothing is said of what is shown to be within. Both hold over all rows of the variant at once (Holm). *sees*: a larger
loss than that would have been shown. *failed*: not measured, or not under the variant that was asked for.
"""
OTHERS = {
    Harm.NONE: "within the budget:",
    Harm.UNCLEAR: "cannot be told:",
    Harm.FAILED: "failed:",
    Harm.SKIPPED: "skipped:",
    Harm.UNCOMPARED: "without bare:",
}


@dataclass(frozen=True)
class LossOfBudget:
    """How much slower a variant makes a workload beyond its budget, in per cent: negative within it."""

    variant: str

    def __call__(self, evidence: Evidence, study: str) -> Sequence[Value]:
        return [self._value(row) for row in rows(evidence, study) if self.variant in row.cells]

    def _value(self, row: Row) -> Value:
        cell = row.cells[self.variant]
        place = (row.system, row.mpi, row.session, row.workload)
        if cell.ratio is None:
            return Value(*place, NO_VALUE, self.variant, caveat=f"{cell.harm.value}: {cell.reason}".rstrip(": "))
        beyond = {name: 100 * (getattr(cell.ratio, name) - row.allowed) for name in ("value", "low", "high")}
        return Value(*place, replace(cell.ratio, **beyond), self.variant, caveat=cell.disturbed)


CLAIMS = (
    Claim(
        statement="The adaptive engine slows no workload down by more than its budget",
        number="per cent of its time that a workload loses beyond its budget (2 %, or 100 ns of a latency), adaptive",
        operator="<=",
        threshold=0.0,
        comparator="the same launch with the engine paused, or the MPI as it is",
        source="the engine's own promise",
        measure=LossOfBudget("adaptive"),
        figure="harm",
        since="2026-11-23 02:15",
    ),
)


def draw(evidence: Evidence, provenance: str) -> list[Drawn]:
    """Every workload and variant in one figure."""
    found = [
        {
            "label": row.workload,
            "session": row.session,
            "system": row.system,
            "study": row.study,
            "mpi": row.mpi,
            "variant": name,
            "quantity": row.quantity,
            "verdict": cell.harm.value,
        }
        | numbers(cell.ratio or NO_VALUE)
        | {"status": cell.status, "reason": cell.why}
        for row in rows(evidence)
        for name, cell in row.cells.items()
        if name != BASE
    ]
    formula = (
        "a workload's whole time (or else its leading quantity) with the engine over the same with it paused, or under "
        "bare, of a rate the other way round (more than 1 is slower)"
    )
    title, lines = "What each variant costs each workload", {"without": 1.0, "2 % slower": 1.02}
    return intervals.draw(evidence, provenance, found, "harm", title, formula, "time / without", lines, _found)


def _found(frame: pd.DataFrame) -> str:
    named = [f"{point['label']} on {point['mpi']} ({point['variant']})" for point in frames.rows(frame)
             if point["verdict"] == Harm.HARMED.value]  # fmt: skip
    return f"Shown to be harmed: {', '.join(named) or 'none'}; {_others(frame['verdict'].tolist())}."


def _others(verdicts: Sequence[str]) -> str:
    """Of how many cells something else is said: that none is shown to be harmed does not say that none is."""
    counts = Counter(verdicts)
    said = [f"{words} {counts[harm.value]}" for harm, words in OTHERS.items() if counts[harm.value]]
    return ", ".join(said) or "nothing else was measured"


def harmed(found: Iterable[Row], variant: str) -> list[str]:
    """The workloads that a variant harms, each with its MPI."""
    return [
        f"{row.workload} on {row.mpi}"
        for row in found
        if variant in row.cells and row.cells[variant].harm is Harm.HARMED
    ]


def pooled_words(found: Iterable[Row], variant: str) -> str:
    """What the variant costs over all workloads; empty where fewer than two were judged."""
    over_all = pooled(ratios(found, variant))
    if math.isnan(over_all.value):
        return ""
    loss = [100 * (x - 1) for x in (over_all.value, over_all.low, over_all.high)]
    return f"{loss[0]:+.1f} % time [{loss[1]:+.1f}, {loss[2]:+.1f}] on average, {over_all.kind}"


def undecided(found: Iterable[Row], variant: str) -> str:
    """Of how many workloads it cannot be told whether a variant harms them, and what could have been seen; empty if of
    none."""
    cells = [row.cells[variant] for row in found if variant in row.cells]
    left = [cell for cell in cells if cell.harm not in (Harm.NONE, Harm.HARMED, Harm.SKIPPED)]
    seen = sorted(100 * cell.sees for cell in left if math.isfinite(cell.sees))
    could = f"; {len(seen)} of them could see a loss of {seen[0]:.1f} to {seen[-1]:.1f} % at least" if seen else ""
    return f"of {len(left)} of {len(cells)} rows it cannot be told{could}" if left else ""


def document(evidence: Evidence) -> str:
    """The whole table as Markdown, with what could not be measured and what was."""
    found = rows(evidence)
    names = [name for name in dict.fromkeys(name for row in found for name in row.cells) if name != BASE]
    table = markdown(
        ["workload", "MPI", "quantity", "without", *names],
        [[row.workload, row.mpi, row.quantity, _bare(row), *(_text(row, name) for name in names)] for row in found],
    )
    points = dict.fromkeys(f"- {row.workload}: {row.point or 'its defaults'}" for row in found)
    means = [f"- {name}: {said}." for name in names if (said := pooled_words(found, name))]
    over_all = ["Over all workloads (geometric mean; one on several MPIs counts once):", "", *means, ""]
    lines = [*(over_all if means else []), *_reasons(found), "What was measured:", ""]
    return page(evidence, HEAD, *table, "", *lines, after=points)


def _bare(row: Row) -> str:
    if row.bare is None:
        return row.cells[BASE].text() if BASE in row.cells else "not measured"
    return f"{1 / row.bare.value if row.rate else row.bare.value:.3g}"


def _text(row: Row, name: str) -> str:
    return row.cells[name].text() if name in row.cells else "not measured"


def _reasons(found: Sequence[Row]) -> list[str]:
    lines = [
        f"- {row.workload} on {row.mpi}, {name}: {cell.harm.value}: {cell.reason}"
        for row in found
        for name, cell in row.cells.items()
        if cell.reason
    ]
    return ["What could not be measured:", "", *lines, ""] if lines else []


SUBJECT = Subject("H1", ("harm-*",), "", "harm: every workload with the engine", CLAIMS, (draw,))

SUBJECTS = (SUBJECT,)
