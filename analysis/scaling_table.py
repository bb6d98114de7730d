# SPDX-License-Identifier: BSD-3-Clause
"""Over the number of ranks: times, what the engine saves, what its settings change, and the seven collectives beside
what their paper says. Of sessions of ./bench scaling, or of any others.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from analysis.evidence import SETTING, Evidence
from analysis.figures.summary import summary
from analysis.figures.toolkit import STYLES
from analysis.metrics.evaluate import REFERENCE
from analysis.records import frames
from analysis.studies.ruhela import COLLECTIVE_OVERLAP as COLLECTIVE
from analysis.studies.ruhela import COLLECTIVES, PAPER_GAIN
from analysis.studies.scaling import STUDIES, WAKES, by_ranks, table_of
from analysis.tables import page
from analysis.text_table import markdown
from analysis.words import bytes_text, in_order, mpi_title, plain

HEAD = """# Over the number of ranks

Milliseconds until the slowest rank is done, the closing barrier included; with several launches their median. In
brackets what is saved of bare's time.
"""
NONE = "–"
Lines = list[str]


def _ms(seconds: float) -> str:
    milliseconds = 1e3 * seconds
    return NONE if pd.isna(seconds) else f"{milliseconds:.3g}" if milliseconds < 1000 else f"{milliseconds:.0f}"


def _percent(share: float) -> str:
    return f"{plain(100 * share, 0)} %" if pd.notna(share) else NONE


def times(evidence: Evidence) -> Lines:
    """Each study's time by ranks, a column a variant and kind of point."""
    frame = by_ranks(evidence, STUDIES)
    lines: Lines = []
    for (mpi, study), part in frames.groups(frame, ["mpi", "study"]) if len(frame) else ():
        columns = [
            (what, variant)
            for what in dict.fromkeys(part["what"])
            for variant in in_order(part[part["what"] == what]["variant"], STYLES)
        ]
        rows = [
            [ranks, *(_time(here, *column) for column in columns)] for (ranks,), here in frames.groups(part, ["ranks"])
        ]
        heads = [f"{what.removeprefix(study)} {variant}".strip() for what, variant in columns]
        lines += [f"## {study}, {mpi_title(str(mpi))}", "", *markdown(["ranks", *heads], rows), ""]
    return lines


def _time(here: pd.DataFrame, what: str, variant: str) -> str:
    mine = here[(here["what"] == what) & (here["variant"] == variant)]
    if not len(mine):
        return NONE
    row = mine.iloc[0]
    return _ms(row["value"]) + ("" if variant == REFERENCE else f" ({_percent(row['saved'])})")


def settings(evidence: Evidence) -> Lines:
    """What is saved, a row a setting, a column a number of ranks."""
    frame = by_ranks(evidence, WAKES)
    frame = frame[frame["variant"] != REFERENCE] if len(frame) else frame
    lines: Lines = []
    for (mpi, what), part in frames.groups(frame, ["mpi", "what"]) if len(frame) else ():
        table = table_of(part.assign(row=part["variant"] + ", " + part["setting"]))
        rows = [[name, *map(_percent, values)] for name, values in zip(table.index, table.to_numpy(float), strict=True)]
        heads = [f"{ranks} ranks" for ranks in table.columns]
        lines += [f"## {what}, {mpi_title(str(mpi))}: saved", "", *markdown(["setting", *heads], rows), ""]
    return lines


def collectives(evidence: Evidence) -> Lines:
    """R1: the seven collectives at comp = comm, beside the paper's kinds."""
    frame = by_ranks(evidence, (COLLECTIVE,))
    if not len(frame) or "comp_over_comm" not in frame:
        return []
    frame = frame[frame["comp_over_comm"] == 1]
    alone = summary(evidence, COLLECTIVE, "comm_s")
    lines: Lines = []
    for keys, part in frames.groups(frame, [*SETTING, "ranks", "size_bytes"]):
        here = dict(zip([*SETTING, "ranks", "size_bytes"], keys, strict=True))
        rows = [
            row for name in in_order(part["collective"], COLLECTIVES)
            if (row := _collective(part[part["collective"] == name], alone, here, name))
        ]  # fmt: skip
        title = f"{mpi_title(here['mpi'])}, {here['ranks']} ranks, {bytes_text(here['size_bytes'])}"
        heads = ["collective", "communication ms", "bare ms", "adaptive ms", "shorter by", "the paper: up to"]
        lines += [f"## R1: collectives, {title}, session {here['session']}", "", *markdown(heads, rows), ""]
    return lines


def _collective(part: pd.DataFrame, alone: pd.DataFrame, here: dict[str, Any], name: str) -> list[str]:
    by_variant = {str(row["variant"]): row for row in reversed(frames.rows(part))}
    if not {REFERENCE, "adaptive"} <= set(by_variant):
        return []
    bare, adaptive = by_variant[REFERENCE], by_variant["adaptive"]
    mine = alone[(alone["variant"] == REFERENCE) & (alone["point"] == bare["point"])]
    mine = mine[(mine["session"] == here["session"]) & (mine["mpi"] == here["mpi"])]
    paper = f"{100 * (1 - PAPER_GAIN[bare['pattern']]):.0f} % ({bare['pattern']})"
    comm = _ms(mine["value"].iloc[0]) if len(mine) else NONE
    return [name.capitalize(), comm, _ms(bare["value"]), _ms(adaptive["value"]), _percent(adaptive["saved"]), paper]


TABLES = (times, settings, collectives)


def document(evidence: Evidence) -> str:
    """All tables as Markdown, with where the numbers are from."""
    lines = [line for table in TABLES for line in table(evidence)]
    if not lines:
        lines = ["These sessions have no study that is told of here.", ""]
    return page(evidence, HEAD, *lines)
