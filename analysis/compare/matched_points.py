# SPDX-License-Identifier: BSD-3-Clause
"""Which point of BASE belongs to which of NEW, and what each launch measured there."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.records import frames
from analysis.records.frames import DISTURBED, disturbance, failed, measured_s
from analysis.records.load import Records
from analysis.records.read import judged_by

Array = npt.NDArray[np.float64]
Key = tuple[str, str, str, str, str]  # study, system, mpi, variant, point without its calibrated parameters


@dataclass
class Choice:
    """A quantity that a point can be judged by. `launches`: name -> samples of the rank that decided. `lacking`: the
    launches that have no such value that can be compared, each with why."""

    sign: int
    launches: dict[str, Array] = field(default_factory=dict)
    lacking: dict[str, str] = field(default_factory=dict)


@dataclass
class Measured:
    """One point of one session, by the quantity that it is judged by. `launches`: name -> samples of the rank that
    decided; `work`: calibrated amount, `works` all of them where the launches did not do the same; `sign`: 1 where less
    is better, -1 where more is.

    A launch whose samples were too many to keep is here with their exact median alone. `recorded` are all quantities
    that the point has, `choices` those that it could be judged by, the best first, `unconverged` how many launches did
    not converge, `disturbance` as bootstrap has it. `failed`: the launches that failed here, each with why, `lacking`
    those that ran and left no value that can be compared, so that no launch is forgotten because others are good.
    """

    quantity: str = ""
    launches: dict[str, Array] = field(default_factory=dict)
    work: float | None = None
    works: tuple[float, ...] = ()
    failed: dict[str, str] = field(default_factory=dict)
    lacking: dict[str, str] = field(default_factory=dict)
    sign: int = 1
    recorded: set[str] = field(default_factory=set)
    choices: dict[str, Choice] = field(default_factory=dict)
    unconverged: int = 0
    disturbance: float | None = None

    def by(self, quantity: str) -> Measured:
        """The same point, judged by one of its choices."""
        chosen = self.choices[quantity]
        lacking = self.lacking | chosen.lacking
        return replace(self, quantity=quantity, launches=chosen.launches, sign=chosen.sign, lacking=lacking)

    @property
    def failure(self) -> str:
        """Why a launch has no value here, the last of them; empty where every launch has one."""
        return next(reversed([*self.failed.values(), *self.lacking.values()]), "")

    def share(self, launches: Mapping[str, str]) -> float:
        """These as a share of the launches that were to measure the point."""
        planned = len({*self.launches, *self.failed, *self.lacking})
        return len(launches) / planned if planned else 0.0

    @property
    def medians(self) -> Array:
        return np.array([np.median(values) for values in self.launches.values()])

    @property
    def disturbed(self) -> bool:
        return self.disturbance is not None and self.disturbance > DISTURBED


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
        good = rows[rows["status"] == "ok"]
        work = frames.unique(good["work_units"]) if "work_units" in good else []
        entry = Measured(work=float(work[0]) if work else None, works=tuple(work) if len(work) > 1 else ())
        for launch, why in failed(rows).items():
            (entry.lacking if why.startswith("damaged") else entry.failed)[launch] = why
        entry.recorded = {name for row in good.index for name in samples.get(row, {})}
        entry.choices = _choices(records, good, samples)
        _add_doubts(entry, good, samples)
        usable = sorted(entry.choices, key=lambda name: _lacks(entry.choices[name]))
        found[study, system, mpi, variant, point] = entry.by(usable[0]) if usable else entry
    return found


def _lacks(choice: Choice) -> int:
    """0 where every launch has a value that can be compared, 1 where some have, 2 where none has."""
    return 0 if not choice.lacking else 1 if choice.launches else 2


def agreed(base: Measured, new: Measured) -> tuple[Measured, Measured]:
    """Both by one quantity where there is one: NEW's best that BASE has. What a workload is about may have been
    declared since BASE was measured, or be zero in one of them."""
    if base.quantity == new.quantity:
        return base, new
    common = [name for name in new.choices if name in base.choices]
    common.sort(key=lambda name: max(_lacks(base.choices[name]), _lacks(new.choices[name])))
    return (base.by(common[0]), new.by(common[0])) if common else (base, new)


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


def _choices(records: Records, good: pd.DataFrame, samples: dict[int, dict[str, Array]]) -> dict[str, Choice]:
    """What the point can be judged by, from its rows of status ok."""
    if not len(good):
        return {}
    known = records.launches.loc[records.launches["launch"] == good.iloc[0]["launch"], "quantities"].iloc[0]
    ranks = [(str(launch), samples.get(row, {})) for row, launch in zip(good.index, good["launch"], strict=True)]
    return {
        name: _choice(name, quantity.sign, ranks)
        for name, quantity in judged_by(known)
        if any(name in available for _, available in ranks)
    }


def _choice(name: str, sign: int, ranks: Sequence[tuple[str, Mapping[str, Array]]]) -> Choice:
    """Per launch the samples of the rank whose median is worst; times of zero cannot be compared as ratios."""
    choice = Choice(sign)
    having = {launch for launch, available in ranks if name in available}
    for launch, available in ranks:
        values = available.get(name)
        if values is None:
            if launch not in having:
                choice.lacking[launch] = f"no {name} in launch {launch}"
        elif np.median(values) <= 0:
            choice.lacking[launch] = f"the median of {name} is not positive in launch {launch}"
        else:
            known = choice.launches.get(launch)
            if known is None or sign * np.median(values) > sign * np.median(known):
                choice.launches[launch] = values
    return choice


def _add_doubts(entry: Measured, good: pd.DataFrame, samples: dict[int, dict[str, Array]]) -> None:
    entry.unconverged = int(good.loc[good["converged"].eq(False), "launch"].nunique())
    entry.disturbance = disturbance(good, sum(measured_s(samples.get(row, {})) for row in good.index))
