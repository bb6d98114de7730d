# SPDX-License-Identifier: BSD-3-Clause
"""What fit and check need of records: the median of each launch at each point, and what launches say together."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.errors import UsageError
from analysis.records.load import Records


@dataclass(frozen=True)
class Number:
    """A number with the interval in which 95 % of the launches lie, and where it comes from."""

    value: float
    low: float
    high: float
    source: str

    def entry(self) -> dict[str, float | str]:
        """As a model's file has it."""
        return {"value": self.value, "low": self.low, "high": self.high, "from": self.source}

    def scaled(self, factor: float) -> Number:
        return Number(self.value * factor, self.low * factor, self.high * factor, self.source)


def of_launches(values: npt.NDArray[np.float64], source: str) -> Number:
    """The median of the launches' own values, with their spread."""
    low, middle, high = (float(x) for x in np.quantile(values, [0.025, 0.5, 0.975]))
    return Number(middle, low, high, f"{source}; {len(values)} launches")


def launch_medians(records: Records, only: Collection[str] = (), rank: int = 0) -> pd.DataFrame:
    """One row a launch and point, a column a quantity: the median of its repetitions on this rank. `only`: these, where
    a parameter of the points is called as another quantity."""
    samples = records.samples[records.samples["rank"] == rank]
    samples = samples[samples["quantity"].isin(only)] if only else samples
    keys = [name for name in samples.columns if name not in {"rank", "role", "quantity", "index", "value", "order"}]
    medians = samples.groupby([*keys, "quantity"], observed=True, dropna=False)["value"].median()
    table = medians.unstack("quantity").reset_index()
    table.columns = pd.Index([str(name) for name in table.columns])
    for name in keys:
        table[name] = table[name].astype(samples[name].cat.categories.dtype)
    return table


RATE = re.compile(r"limited by \w+ to ([\d.]+)([kMG])bit/s")
BITS = {"k": 1e3, "M": 1e6, "G": 1e9}
NEAR = 0.1  # of the rate: a model's is fitted, a session's is the one that was asked for


def networks(launches: pd.DataFrame, studies: Sequence[str] = ()) -> dict[str, str]:
    """Each network of the launches (of these studies; all if none is named), and a session of it. UsageError where one
    is a line that no model has."""
    moved = launches[launches["study"].isin(studies)] if studies else launches
    found = moved[moved["network"].notna()].groupby("network", observed=True)["session"].first()
    for network, session in found.items():
        if re.search(r"\btbf\b", str(network)):
            raise UsageError(
                f"Session {session} is of a line limited by tbf, which lets short messages pass too fast after a "
                "pause: no model has such a line. Measure again on today's, which the virtual cluster has by itself."
            )
    return {str(network): str(session) for network, session in found.items()}


def must_be_as_fast(launches: pd.DataFrame, bytes_per_s: float, model: str) -> None:
    """UsageError where a session's words name another rate than that of the `model`'s line. (A cluster's name none.)"""
    for network, session in networks(launches).items():
        if named := RATE.search(network):
            rate = float(named[1]) * BITS[named[2]]
            if abs(8 * bytes_per_s / rate - 1) > NEAR:
                raise UsageError(
                    f"Session {session} is of a line of {named[1]} {named[2]}b/s, and model {model} has one of "
                    f"{8e-9 * bytes_per_s:.3g} Gb/s: name another model (OVERLAP_BENCH_MODEL), or measure on such a "
                    "line."
                )
