# SPDX-License-Identifier: BSD-3-Clause
"""Which point of BASE belongs to which of NEW, and what each launch measured there."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis import frames
from analysis.load import Records
from analysis.statistics import noise

Array = npt.NDArray[np.float64]
# What a point is judged by, the first that it has: -> whether less is better.
QUANTITIES = {
    "total_s": True,
    "elapsed_s": True,
    "latency_s": True,
    "mean_latency_s": True,
    "task_s": True,
    "overhead_s": True,
    "mflops": False,
    "bandwidth_bytes_per_s": False,
    "bytes_per_s": False,
    "operations_per_s": False,
    "batch_median_s": True,
}

Key = tuple[str, str, str, str, str]  # study, system, mpi, variant, point without its calibrated parameters


@dataclass
class Measured:
    """One point of one session. `launches`: name -> samples of the rank that decided; `work`: calibrated amount.

    A launch whose samples were too many to keep is here with their exact median alone. `recorded` are all quantities
    that the point has, `unconverged` how many launches did not converge, `disturbance` see noise.disturbance.
    """

    quantity: str = ""
    launches: dict[str, Array] = field(default_factory=dict)
    work: float | None = None
    failure: str = ""
    recorded: set[str] = field(default_factory=set)
    unconverged: int = 0
    disturbance: float | None = None

    @property
    def medians(self) -> Array:
        return np.array([np.median(values) for values in self.launches.values()])

    @property
    def disturbed(self) -> bool:
        return self.disturbance is not None and self.disturbance > noise.DISTURBED


def measured(records: Records) -> dict[Key, Measured]:
    """Every point of a session (calibration left out), also those that failed."""
    found: dict[Key, Measured] = {}
    samples = _by_row(records)
    for (study, system, mpi, variant, point), rows in frames.groups(
        records.points, ["study", "system", "mpi", "variant", "point"]
    ):
        parameters: dict[str, Any] = json.loads(point)
        if "calibration" in parameters:
            continue
        entry = found.setdefault((study, system, mpi, variant, point), Measured())
        work = frames.unique(rows["work_units"]) if "work_units" in rows else []
        entry.work = float(work[0]) if work else None
        _add_launches(entry, frames.rows(rows.reset_index()), samples)
        _add_doubts(entry, rows[rows["status"] == "ok"], samples)
    return found


def _by_row(records: Records) -> dict[int, dict[str, Array]]:
    """Row of the points -> quantity -> its samples, or the exact median of those that were too many to keep."""
    found: dict[int, dict[str, Array]] = {}
    for row in frames.rows(records.series):
        if row["count"]:
            found.setdefault(row["row"], {})[row["quantity"]] = records.series_values(row["first"], row["count"])
    for (index, quantity), histogram in records.histograms.items():
        if "0.5" in histogram["quantiles"]:
            found.setdefault(index, {})[quantity] = np.array([float(histogram["quantiles"]["0.5"])])
    return found


def _add_launches(entry: Measured, rows: list[dict[str, Any]], samples: dict[int, dict[str, Array]]) -> None:
    """Per launch the samples of the rank whose median is worst; times of zero cannot be compared as ratios."""
    for row in rows:
        if row["status"] != "ok":
            entry.failure = f"{row['status']}: {row['reason']}"
            continue
        available = samples.get(row["index"], {})
        entry.recorded |= available.keys()
        entry.quantity = entry.quantity or next((name for name in QUANTITIES if name in available), "")
        values = available.get(entry.quantity)
        if values is None:
            if entry.quantity:
                entry.failure = f"no {entry.quantity} in launch {row['launch']}"
            continue
        if np.median(values) <= 0:
            entry.failure = f"the median of {entry.quantity} is not positive in launch {row['launch']}"
            continue
        known = entry.launches.get(row["launch"])
        sign = 1 if QUANTITIES[entry.quantity] else -1
        if known is None or sign * np.median(values) > sign * np.median(known):
            entry.launches[row["launch"]] = values


def _add_doubts(entry: Measured, good: pd.DataFrame, samples: dict[int, dict[str, Array]]) -> None:
    entry.unconverged = int(good.loc[good["converged"].eq(False), "launch"].nunique())
    entry.disturbance = noise.disturbance(good, sum(noise.measured_s(samples.get(row, {})) for row in good.index))
