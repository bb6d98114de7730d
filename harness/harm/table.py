# SPDX-License-Identifier: BSD-3-Clause
"""The pieces as Markdown: what each variant costs each workload, against bare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from analysis.statistics.bootstrap import ratio_of_medians
from analysis.statistics.interval import Interval
from harness.harm.measure import BASE

SHARE = 0.02  # the budget: how much slower a workload may be
RATE = "_per_s"  # of such a quantity less is slower
LATENCY_S = 100e-9  # the budget of a message's latency, where 2 % of it is less
SHORTEST_LATENCY_S = 1e-7  # no message is faster: what takes less is something else

HEAD = """# Harm

Written by `./bench harm`; do not edit. Each value is a workload's whole time (or else its leading quantity) under a
variant over the same under `bare`, of a rate the other way round (medians over alternated launches of the launches'
medians), in brackets its interval; more than 1 is slower. *harmed*: the whole interval lies above the budget (2 %, or
100 ns of a time of microseconds, where that is more); *unclear*: part of it does.
"""


def markdown(pieces: Sequence[dict[str, Any]]) -> str:
    """The whole document; pieces as harness.harm.measure makes them."""
    names = list(dict.fromkeys(name for piece in pieces for name in [*piece["samples"], *piece["failures"]]))
    names = [name for name in names if name != BASE]
    columns = ["workload", "MPI", "quantity", "bare", *names]
    lines = [_line(columns), _line(["---"] * len(columns))]
    lines += [_row(piece, names) for piece in pieces]
    return "\n".join([HEAD, *lines, "", *_failures(pieces), *_sources(pieces), ""])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _row(piece: dict[str, Any], names: Sequence[str]) -> str:
    samples = piece["samples"]
    bare = of(piece, BASE)
    cells = [piece["workload"], piece["mpi"], piece["quantity"], "failed" if bare is None else f"{_middle(piece):.3g}"]
    for name in names:
        found = of(piece, name)
        if found is None:
            cells.append("failed" if name in piece["failures"] else "")
        else:
            cells.append(f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}] {judge(piece, found)}".strip())
    return _line(cells) if samples else _line([*cells[:3], "failed", *([""] * len(names))])


def of(piece: dict[str, Any], name: str) -> Interval | None:
    """How many times as slow as bare a variant is; None where one of the two was not measured."""
    samples = piece["samples"]
    if name not in samples or BASE not in samples:
        return None
    slower = (samples[name], samples[BASE])
    return ratio_of_medians(*(reversed(slower) if piece["quantity"].endswith(RATE) else slower))


def judge(piece: dict[str, Any], ratio: Interval) -> str:
    """ "harmed", "unclear" or nothing."""
    middle = _middle(piece)
    is_time = piece["quantity"].endswith("_s") and not piece["quantity"].endswith(RATE)
    allowed = 1 + max(SHARE, LATENCY_S / middle if is_time and middle > SHORTEST_LATENCY_S else 0)
    if ratio.low > allowed:
        return "harmed"
    return "unclear" if ratio.high > allowed else ""


def _middle(piece: dict[str, Any]) -> float:
    launches = [sorted(launch)[len(launch) // 2] for launch in piece["samples"][BASE]]
    return float(sorted(launches)[len(launches) // 2])


def harmed(pieces: Sequence[dict[str, Any]], name: str) -> list[str]:
    """The workloads that a variant harms, each with its MPI."""
    return [
        f"{piece['workload']} on {piece['mpi']}"
        for piece in pieces
        if (found := of(piece, name)) and judge(piece, found) == "harmed"
    ]


def _failures(pieces: Sequence[dict[str, Any]]) -> list[str]:
    lines = [
        f"- {piece['workload']} on {piece['mpi']}, {name}: {why}"
        for piece in pieces
        for name, why in piece["failures"].items()
    ]
    return ["What could not be measured:", "", *lines, ""] if lines else []


def _sources(pieces: Sequence[dict[str, Any]]) -> list[str]:
    lines = []
    for piece in pieces:
        about = piece["machine"]
        launches = piece["samples"].get(BASE, [])
        lines.append(
            f"- `{piece['command']}`: {piece['workload']} {piece['point']}, {piece['mpi']}, ranks {piece['ranks']}, "
            f"{piece['time']}, "
            f"{piece['system']} ({piece['network']}), {about['cpu_model']}, {about['cpus']} CPUs, Linux "
            f"{about['kernel']}; {len(launches)} launches a variant"
        )
    return ["What was measured:", "", *lines]
