# SPDX-License-Identifier: BSD-3-Clause
"""Which point of BASE belongs to which of NEW, and what each launch measured there."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from analysis import frames
from analysis.load import Records

Array = npt.NDArray[np.float64]
# What a point is judged by, the first that it has: -> whether less is better.
QUANTITIES = {
    "total_s": True,
    "elapsed_s": True,
    "latency_s": True,
    "task_s": True,
    "mflops": False,
    "bandwidth_bytes_per_s": False,
}

Key = tuple[str, str, str, str, str]  # study, system, mpi, variant, point without its calibrated parameters


@dataclass
class Measured:
    """One point of one session. `launches`: name -> samples of the rank that decided; `work`: calibrated amount."""

    quantity: str = ""
    launches: dict[str, Array] = field(default_factory=dict)
    work: float | None = None
    failure: str = ""

    @property
    def medians(self) -> Array:
        return np.array([np.median(values) for values in self.launches.values()])


def measured(records: Records) -> dict[Key, Measured]:
    """Every point of a session (calibration left out), also those that failed."""
    found: dict[Key, Measured] = {}
    series = _by_row(records)
    for (study, system, mpi, variant, point), rows in frames.groups(
        records.points, ["study", "system", "mpi", "variant", "point"]
    ):
        parameters: dict[str, Any] = json.loads(point)
        if "calibration" in parameters:
            continue
        entry = found.setdefault((study, system, mpi, variant, point), Measured())
        work = frames.unique(rows["work_units"]) if "work_units" in rows else []
        entry.work = float(work[0]) if work else None
        _add_launches(entry, frames.rows(rows.reset_index()), series)
    return found


def _by_row(records: Records) -> dict[int, dict[str, Array]]:
    found: dict[int, dict[str, Array]] = {}
    for row in frames.rows(records.series):
        if row["quantity"] in QUANTITIES and row["count"]:
            found.setdefault(row["row"], {})[row["quantity"]] = records.series_values(row["first"], row["count"])
    return found


def _add_launches(entry: Measured, rows: list[dict[str, Any]], series: dict[int, dict[str, Array]]) -> None:
    """Per launch the samples of the rank whose median is worst; times of zero cannot be compared as ratios."""
    for row in rows:
        if row["status"] != "ok":
            entry.failure = f"{row['status']}: {row['reason']}"
            continue
        available = series.get(row["index"], {})
        entry.quantity = entry.quantity or next((name for name in QUANTITIES if name in available), "")
        values = available.get(entry.quantity)
        if values is None or np.median(values) <= 0:
            continue
        known = entry.launches.get(row["launch"])
        sign = 1 if QUANTITIES[entry.quantity] else -1
        if known is None or sign * np.median(values) > sign * np.median(known):
            entry.launches[row["launch"]] = values
