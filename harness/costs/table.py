# SPDX-License-Identifier: BSD-3-Clause
"""The pieces as Markdown: each budget with what was measured, and whether it was met."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from analysis.statistics.bootstrap import difference_of_medians, of_medians
from analysis.statistics.interval import Interval
from harness.costs.budgets import BASE, PARTS, Budget, of_part

HEAD = """# What the engine costs

Written by `./bench engine-costs`; do not edit. Nanoseconds. Each value is the median over launches of the launches'
medians, in brackets its interval; variants alternate, and what an MPI's row says is the difference from `{base}` in the
same piece. A budget is *met* if the median is within it and *missed* if not; *unclear* stands where the interval
reaches over the budget.
"""


def markdown(pieces: Sequence[dict[str, Any]]) -> str:
    """The whole document; pieces as harness.costs.measure makes them."""
    sections = [_section(part, [piece for piece in pieces if piece["part"] == part]) for part in PARTS]
    return "\n".join([HEAD.format(base=f"{BASE}"), *filter(None, sections)])


def _section(part: str, pieces: list[dict[str, Any]]) -> str:
    if not pieces:
        return ""
    rows = [row for budget in of_part(part) for piece in pieces for row in _row(budget, piece)]
    columns = ["path", "MPI", "variant", "budget", "measured", ""]
    if part == "core":
        rows = [[row[0], *row[3:]] for row in rows]
        columns = ["path", "budget", "measured", ""]
    table = [_line(columns), _line(["---"] * len(columns)), *map(_line, rows)]
    return "\n".join([f"## {PARTS[part][0].upper()}{PARTS[part][1:]}", "", *table, "", *_sources(pieces), ""])


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _row(budget: Budget, piece: dict[str, Any]) -> list[list[str]]:
    interval = measured(budget, piece)
    if interval is None:
        return []
    limit = "" if budget.limit_ns is None else f"{budget.limit_ns:g}"
    value = f"{_number(interval.value)} [{_number(interval.low)}, {_number(interval.high)}]"
    return [[budget.path, piece["mpi"], budget.variant, limit, value, verdict(budget.limit_ns, interval)]]


def _number(value: float) -> str:
    return f"{value:.1f}" if abs(value) < 100 else f"{value:.0f}"


def measured(budget: Budget, piece: dict[str, Any]) -> Interval | None:
    """What a piece says of a budget, nanoseconds; None if it does not measure it."""
    samples = piece["samples"]
    launches = samples.get(budget.variant, {}).get(budget.benchmark)
    if launches is None:
        return None
    if BASE in samples:
        return difference_of_medians(launches, samples[BASE][budget.benchmark])
    return of_medians(lambda value: value, {"value": launches})


def verdict(limit_ns: float | None, interval: Interval) -> str:
    """ "met", "missed", "unclear" or nothing."""
    if limit_ns is None:
        return ""
    if interval.low <= limit_ns < interval.high:
        return f"unclear ({'met' if interval.value <= limit_ns else 'missed'} at the median)"
    return "met" if interval.value <= limit_ns else "missed"


def _sources(pieces: list[dict[str, Any]]) -> list[str]:
    """Command, machine and samples of each piece."""
    lines = []
    for piece in pieces:
        about = piece["machine"]
        launches = next(iter(next(iter(piece["samples"].values())).values()))
        virtual = ", a virtual machine" if about["virtual_machine"] else ""
        lines.append(
            f"- `{piece['command']}`, {piece['time']}: {about['cpu_model']}, {about['cores']} cores, "
            f"{about['cpus']} CPUs{virtual}, Linux {about['kernel']}; {len(launches)} launches of {len(launches[0])} "
            "samples"
        )
    return lines
