# SPDX-License-Identifier: BSD-3-Clause
"""What fit and check need of records: the median of each launch at each point, and what launches say together."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

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
