# SPDX-License-Identifier: BSD-3-Clause
"""The cross-check on one page: what other tools' numbers are of ours, a row an MPI, tool and size."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.documents.cross_check import AGREES, ALONE, DIFFERS, IMB, OVERLAP, Comparison
from analysis.text_table import markdown
from analysis.words import mpi_title

MARKS = {AGREES: "{}", DIFFERS: "**{}**"}  # all else: it cannot be told
KINDS = {"": "between two ranks", ALONE: "the collective alone", OVERLAP: "the overlap"}


def grid(found: Sequence[Comparison], kind: str, variant: str) -> list[str]:
    """A Markdown table of one variant and one of KINDS. A cell is theirs over their formula on our samples, of overlaps
    the difference in percentage points: plain where they agree, bold where they differ, in brackets where it cannot be
    told."""
    mine = [one for one in found if one.variant == variant and not one.unlike and _kind(one) == kind]
    columns = list(dict.fromkeys(_name(one) for one in mine))
    rows: dict[tuple[str, str, str], dict[str, str]] = {}
    for one in mine:
        size = one.what.rpartition(", ")[2]
        rows.setdefault((mpi_title(one.mpi), _tool(one), size), {})[_name(one)] = _cell(one)
    lines = [[*key, *(cells.get(name, "") for name in columns)] for key, cells in rows.items()]
    return markdown(["MPI", "tool", "size", *columns], lines)


def own_thread(found: Sequence[Comparison], size: str) -> list[str]:
    """A Markdown table of overlaps at one size, bare beside the MPI's own progress thread, a row an MPI, tool and
    collective: what the tool prints, and our efficiency."""
    variants = ("bare", "mpi-async")
    rows: dict[tuple[str, str, str], dict[str, str]] = {}
    for one in found:
        if one.overlap and one.what.endswith(f", {size}"):
            key = (mpi_title(one.mpi), _tool(one), _name(one))
            printed = f"{one.theirs.value:.0f} % / {one.ours.text()}"
            rows.setdefault(key, {})[one.variant] = printed
    whole = {key: cells for key, cells in rows.items() if set(variants) <= cells.keys()}
    lines = [[*key, *(cells[variant] for variant in variants)] for key, cells in sorted(whole.items())]
    return markdown(["MPI", "tool", "collective", "bare", "with its thread"], lines)


def _kind(one: Comparison) -> str:
    return next((kind for kind in (ALONE, OVERLAP) if one.what.startswith(kind)), "")


def _tool(one: Comparison) -> str:
    return "IMB" if one.study.startswith(IMB) else "OSU"


def _name(one: Comparison) -> str:
    return one.what.removeprefix(_kind(one)).rpartition(", ")[0]


def _cell(one: Comparison) -> str:
    text = f"{one.of_same.value:.0f}" if one.overlap else f"{one.of_same.value:.2f}"
    return MARKS.get(one.verdict, "({})").format(text)
