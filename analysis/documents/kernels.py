# SPDX-License-Identifier: BSD-3-Clause
"""NAS Parallel Benchmarks as the studies nas (P7) and npb-overlap measured them: each one's time as published and bare,
and how long it takes otherwise, as a share of that."""

from __future__ import annotations

import pandas as pd

from analysis.evidence import SETTING, Array, Evidence, matching
from analysis.figures.style import STYLES
from analysis.records import frames
from analysis.statistics.bootstrap import of_medians, ratio_of_medians
from analysis.text_table import markdown
from analysis.words import in_order, mpi_title, seconds_text

NONE = "–"
TITLES = {
    "nas": "P7: NAS Parallel Benchmarks as published",
    "npb-overlap": "npb-overlap: NAS Parallel Benchmarks, communication beside computation",
}
KERNELS = ("is", "ep", "cg", "mg", "ft", "lu")
MODES = ("blocking", "overlapped")
BASE = ("blocking", "bare")
Way = tuple[str, str]  # a mode and a variant


def nas(evidence: Evidence) -> list[str]:
    """P7's table."""
    return _table(evidence, "nas")


def npb_overlap(evidence: Evidence) -> list[str]:
    """That of our own study beside it."""
    return _table(evidence, "npb-overlap")


def _table(evidence: Evidence, study: str) -> list[str]:
    """A row an MPI, class and kernel; nothing where nothing was measured."""
    points = evidence.points(study) if len(evidence.records.points) else evidence.records.points
    if not len(points):
        return []
    ways = _ways(points)
    rows = []
    for (_, system, mpi, name), part in frames.groups(points, [*SETTING, "class"]):
        title = f"{mpi_title(str(mpi))}, {system}, ranks {part['rank'].max() + 1:.0f}, class {name}"
        for kernel in in_order(part["kernel"], KERNELS):
            rows.append([title, kernel.upper(), *_cells(evidence, part[part["kernel"] == kernel], ways)])
    heads = ["MPI", "kernel", "as published, bare", "of that in MPI calls", *(_head(way, ways) for way in ways)]
    return [f"## {TITLES[study]}", "", *markdown(heads, rows), ""]


def _ways(points: pd.DataFrame) -> list[Way]:
    """What is held against the base, in the order of the columns."""
    there = set(zip(points["mode"], points["variant"], strict=True)) - {BASE}
    variants = in_order(points["variant"], STYLES)
    return [(mode, variant) for mode in in_order(points["mode"], MODES) for variant in variants
            if (mode, variant) in there]  # fmt: skip


def _head(way: Way, ways: list[Way]) -> str:
    mode, variant = way
    return f"{variant} / that" if {mode for mode, _ in ways} == {BASE[0]} else f"{mode}, {variant} / that"


def _cells(evidence: Evidence, part: pd.DataFrame, ways: list[Way]) -> list[str]:
    base = _launches(evidence, part, BASE, "elapsed_s")
    if not base:
        return [NONE] * (2 + len(ways))
    whole = of_medians(lambda value: value, {"value": base})
    calls = of_medians(lambda value: value, {"value": _launches(evidence, part, BASE, "comm_s")})
    time = f"{seconds_text(whole.value)} [{seconds_text(whole.low)}, {seconds_text(whole.high)}]"
    return [time, f"{100 * calls.value / whole.value:.0f} %", *(_ratio(evidence, part, way, base) for way in ways)]


def _ratio(evidence: Evidence, part: pd.DataFrame, way: Way, base: list[Array]) -> str:
    mine = _launches(evidence, part, way, "elapsed_s")
    if not mine:
        return NONE
    return ratio_of_medians(mine, base).text()


def _launches(evidence: Evidence, part: pd.DataFrame, way: Way, quantity: str) -> list[Array]:
    mode, variant = way
    return evidence.launches(matching(part, {"mode": mode, "variant": variant}), quantity, "median")
