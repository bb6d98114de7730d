# SPDX-License-Identifier: BSD-3-Clause
"""Every series in a row: how many samples, their quartiles, extremes and mean."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.records.load import LAUNCH_KEYS, Records

STATISTICS = ["min", "p25", "median", "p75", "p99", "max", "mean"]


def summarise(records: Records) -> pd.DataFrame:
    """One row a (launch, point, rank, quantity) with STATISTICS in its unit; NaN where a series is empty."""
    series = records.series[["row", "quantity", "count"]]
    found = np.full((len(series), len(STATISTICS)), np.nan)
    for index, (first, count) in enumerate(zip(records.series["first"], records.series["count"], strict=True)):
        if count:
            values = records.series_values(first, count)
            found[index, :6] = np.quantile(values, [0, 0.25, 0.5, 0.75, 0.99, 1])
            found[index, 6] = values.mean()
    facts = records.points.loc[series["row"], [*LAUNCH_KEYS, "point", *records.parameters, "rank", "role"]]
    return pd.concat(
        [facts.reset_index(drop=True), series.reset_index(drop=True), pd.DataFrame(found, columns=STATISTICS)], axis=1
    ).drop(columns="row")
