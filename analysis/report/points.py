# SPDX-License-Identifier: BSD-3-Clause
"""The points of the figures as tables: a row a point, with what it can be filtered by and where its records are."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from analysis.evidence import COLUMN, Choice, values
from analysis.figures.toolkit import Drawn
from analysis.metrics.formulas import LEAST_EFFICIENCY
from analysis.records import frames
from analysis.records.frames import took
from analysis.records.load import Records
from analysis.words import added_text, bytes_text, mpi_title, point_words, seconds_text, text

FILE_KEYS = ("study", "session", "system", "mpi", "variant")
SEVERAL = {"statistic": "statistic", "quantity": "quantity", "metric": "metric", "call": "call"}


@dataclass(frozen=True)
class Cell:
    """What is written, and the number that a column is sorted by."""

    words: str
    number: str = ""


@dataclass(frozen=True)
class PointRow:
    """`number` makes its identifier; `filters`: of each option the place of its value in the list of choices, or -1;
    `files`: the number of the group of record files, or -1."""

    number: int
    cells: list[Cell]
    filters: str
    files: int

    @property
    def words(self) -> str:
        """In a line, for whoever points at it."""
        return ", ".join(cell.words for cell in self.cells if cell.words and cell.words != "–")


@dataclass(frozen=True)
class PointTable:
    """The table under a figure."""

    columns: list[str]
    rows: list[PointRow]


@dataclass(frozen=True)
class Files:
    """The raw records of a group of launches, as links from the report's folder."""

    title: str
    links: list[tuple[str, str]]


@dataclass
class Points:
    """Numbers the rows of all figures of a page, and knows the record files of each."""

    records: Records
    folder: Path
    choice: Choice
    files: list[Files] = field(default_factory=list)
    count: int = 0

    def __post_init__(self) -> None:
        self.choices = values(self.choice.of(self.records.points))
        self._places = {option: {str(name): i for i, name in enumerate(them)} for option, them in self.choices.items()}
        self._groups: dict[tuple[str, ...], int] = {}
        launches = self.records.launches
        for keys, part in frames.groups(launches, list(FILE_KEYS)) if len(launches) else ():
            self._groups[tuple(map(str, keys))] = len(self.files)
            study, session, system, mpi, variant = map(str, keys)
            title = f"{study}, {mpi_title(mpi)}, {variant}, {system}, session {session}"
            self.files.append(Files(title, [self._link(file) for file in part["file"]]))
        self._several = [name for name in ("session", "system") if len(launches) and launches[name].nunique() > 1]

    def _link(self, file: str) -> tuple[str, str]:
        return os.path.relpath(file, self.folder.resolve()), Path(file).name

    def table(self, drawn: Drawn) -> PointTable:
        """The figure's points in their order."""
        frame = drawn.points
        extra = [name for name in SEVERAL if name in frame and frame[name].nunique() > 1]
        columns = [*self._several, "MPI", "variant", "point", *extra, "value", "from", "to", "launches", "remarks"]
        rows = []
        for point in frames.rows(frame):
            cells = [Cell(str(point.get(name, ""))) for name in self._several]
            cells += [Cell(mpi_title(str(point["mpi"]))), Cell(str(point["variant"])), Cell(_where(point))]
            cells += [Cell(str(point[name]).replace("_", " ")) for name in extra]
            cells += [self._number(point, name, drawn) for name in ("value", "low", "high")]
            cells += [Cell(text(point.get("launches"), 0), _plain(point.get("launches"))), Cell(_remarks(point))]
            rows.append(PointRow(self.count, cells, self.filters(point), self._group(point)))
            self.count += 1
        return PointTable(columns, rows)

    def _number(self, point: Mapping[str, Any], name: str, drawn: Drawn) -> Cell:
        value = point.get(name, math.nan)
        if not isinstance(value, (int, float)) or not math.isfinite(value):
            return Cell("–")
        time = str(point.get("quantity", "")).endswith("_s") or drawn.plot.say is seconds_text
        return Cell(seconds_text(float(value)) if time else f"{value:.4g}".replace("-", "−"), _plain(value))

    def filters(self, point: Mapping[str, Any]) -> str:
        """Of each option the place of the point's value in the list of choices, or -1."""
        places = []
        for option, column in COLUMN.items():
            value = point.get(column)
            if option == "size" and isinstance(value, (int, float)) and math.isfinite(value):
                value = int(value)
            places.append(self._places[option].get(str(value), -1))
        return " ".join(map(str, places))

    def _group(self, point: Mapping[str, Any]) -> int:
        return self._groups.get(tuple(str(point.get(name)) for name in FILE_KEYS), -1)


def _where(point: Mapping[str, Any]) -> str:
    if "point" in point and isinstance(point["point"], str):
        return point_words(point["point"])
    return ", ".join(str(point[name]) for name in ("label", "pattern", "collective", "size_bytes") if name in point)


def _remarks(point: Mapping[str, Any]) -> str:
    status, reason, note = (point.get(name) for name in ("status", "reason", "note"))
    added = [float(point.get(f"added_{name}", math.nan)) for name in ("value", "low", "high")]
    note = added_text(*added) if math.isfinite(added[0]) and point["value"] < LEAST_EFFICIENCY else note
    said = [str(x) for x in (status if status != "ok" else None, reason, note) if isinstance(x, str) and x]
    return "; ".join(filter(None, [": ".join(dict.fromkeys(said)), *_worth(point)]))


def _worth(point: Mapping[str, Any]) -> Iterator[str]:
    """What a value is worth, in few words: a page has thousands of points."""
    value = point.get("value")
    if not isinstance(value, (int, float)) or not math.isfinite(value):
        return
    if point.get("defensible") is False:
        yield "no 95 % interval"
    if point.get("converged") is False:
        yield "not converged"
    if took(point.get("disturbance")):
        yield "disturbed"


def _plain(value: Any) -> str:
    return f"{value:.9g}" if isinstance(value, (int, float)) and math.isfinite(value) else ""


def options(choices: Mapping[str, Sequence[str | int]]) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """The filters: the option and its values, each as the command takes it and as it is called."""
    called: dict[str, Callable[[Any], str]] = {"mpi": mpi_title, "size": bytes_text}
    for option, names in choices.items():
        if len(names) > 1:
            yield option, [(str(name), called.get(option, str)(name)) for name in names]
