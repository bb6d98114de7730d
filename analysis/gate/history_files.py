# SPDX-License-Identifier: BSD-3-Clause
"""A store's history as files: a figure a series of ratios, with where it changed, and history.json with the same."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis.figures import style, toolkit
from analysis.figures.plot import Plot
from analysis.figures.toolkit import Drawn
from analysis.gate.changes import Change, Key, series
from analysis.gate.outputs import writable
from analysis.gate.store import Entry

FILE = "history.json"
HEIGHT = 2.2  # inches
TICKS = 8
LOOK = style.curve(0, "a gate, with the interval of its ratio")
CHANGED = {"color": "#D55E00", "linestyle": (0, (4, 2)), "linewidth": 1.2}
LABEL = "candidate / baseline"


@dataclass(frozen=True)
class Told:
    """A series: its gates as rows, by time, and the changes in it. `places`: of the gates from which on the ratios are
    others; two gates of one second may have sessions of one name."""

    key: Key
    rows: pd.DataFrame
    changes: list[Change]
    places: list[int]

    @property
    def name(self) -> str:
        """Of its files: the point's words, and what tells it from the same point elsewhere."""
        return f"{toolkit.slug(self.key.point)[:100]}-{hashlib.sha256(str(self.key).encode()).hexdigest()[:6]}"


def write(entries: Sequence[Entry], found: Sequence[Change], folder: Path) -> list[Path]:
    """A figure a series, as PNG, SVG, PDF and CSV, and history.json; gives the figures. Raises OSError."""
    every = [_told(key, gates, [one for one in found if one.key == key]) for key, gates in series(entries).items()]
    written = [toolkit.save(draw(one), folder)["png"] for one in every]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FILE).write_text(json.dumps([_content(one) for one in every], indent=1) + "\n")
    return written


def _told(key: Key, gates: Sequence[tuple[Entry, float]], changes: list[Change]) -> Told:
    entries = [entry for entry, _ in gates]
    return Told(key, _rows(key.point, gates), changes, [entries.index(change.entry) for change in changes])


def _rows(point: str, gates: Sequence[tuple[Entry, float]]) -> pd.DataFrame:
    """A row a gate. Earlier versions kept no interval, nor does a gate of too few rounds have one."""
    rows = []
    for entry, ratio in gates:
        low, high = entry.intervals.get(point, (np.nan, np.nan))
        kept = {name: getattr(entry, name) for name in ("session", "time", "new", "base", "commit", "verdict")}
        rows.append(kept | {"value": ratio, "low": low, "high": high})
    return pd.DataFrame(rows)


def _content(one: Told) -> dict[str, Any]:
    rows = json.loads(one.rows.to_json(orient="records", double_precision=15))  # which has null for what is not known
    changes = [{"session": it.entry.session, "ratio": it.ratio, "adjusted_p": it.adjusted} for it in one.changes]
    return {**one.key._asdict(), "figure": one.name, "gates": rows, "changes": changes}


@toolkit.styled
def draw(one: Told) -> Drawn:
    """Ratios by time, a step a gate, and a line where they changed."""
    figure, panels = toolkit.panels(1, 1, HEIGHT)
    axes, x = panels[0, 0], np.arange(len(one.rows), dtype=float)
    toolkit.dots(axes, x, one.rows, LOOK)
    axes.axhline(1.0, **style.SERIAL)
    for place in one.places:
        axes.axvline(place - 0.5, **CHANGED)
    shown = np.unique(np.linspace(0, len(x) - 1, min(TICKS, len(x))).round().astype(int))
    axes.set_xticks(shown, [one.rows["time"].iloc[place][:10] for place in shown])
    axes.set_ylabel(LABEL)
    point = writable(one.key.point)
    axes.set_title(point, parse_math=False)  # a program of one's own is named by its command
    lines = {"equal": style.SERIAL} | ({"changed": CHANGED} if one.changes else {})
    toolkit.legend_of(figure, [LOOK], lines, crossed=False)
    told = "; ".join(f"{100 * (it.ratio - 1):+.1f} % since {it.entry.session}" for it in one.changes)
    caption = (
        f"{writable(str(one.key))}. {len(x)} gates by time; above 1 the candidate is slower. Changes: {told or 'none'}."
    )
    toolkit.footer(figure, caption)
    plot = Plot("time", "", LABEL, x_axis="words", lines={"equal": 1.0})
    return Drawn(one.name, point, caption, figure, one.rows, plot, found=told)
