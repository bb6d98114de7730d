# SPDX-License-Identifier: BSD-3-Clause
"""What the computation of an application takes, from records of the real one: for the simulator's FFT and miniFE.

It is the machine's, whatever the MPI: of all launches of the mode that computes beside nothing, without an engine.
Where the sessions have no record of an application, its rates are left out.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from analysis.records.load import Records
from simulator.medians import Number, launch_medians, of_launches

COMPLEX = 16  # bytes of a number
# Of a field on two ranks: half of it is packed and half of that stays, and the same on the way back.
COPIED_BY_TWO = 2 * (0.5 + 0.25)
# Of a row in an iteration of miniFE in mode blocking, bytes: simulator/src/minife.cpp has the same two.
STREAMED_BY_PRODUCT = 27 * (8 + 4) + 2 * 8
STREAMED_BY_VECTORS = 12 * 8


def rates(records: Records) -> dict[str, Number]:
    """Seconds, by their name in the `computation` of a model's file."""
    table = launch_medians(records, ("elapsed_s", "comp_s", "mops", "iterations"))
    if "elapsed_s" not in table:
        return {}
    ranks = records.launches.groupby(["session", "launch"], observed=True)["world_size"].max()
    places = pd.MultiIndex.from_frame(table[["session", "launch"]].astype(str))
    table = table.assign(ranks=ranks.reindex(places).to_numpy())
    table = table[(table["variant"] == "bare") & (_column(table, "mode", "") == "blocking")]
    return _fft(table[table["study"] == "fft"]) | _minife(table[table["study"] == "minife-packets"])


def _column(table: pd.DataFrame, name: str, default: Any) -> pd.Series[Any]:
    """A parameter of the points, with what it is where a point does not give it."""
    if name not in table:
        return pd.Series([default] * len(table), index=table.index)
    return table[name].astype(object).where(table[name].notna(), default)


def _fft(rows: pd.DataFrame) -> dict[str, Number]:
    """An operation from one rank, which copies nothing, and a byte from what two ranks take beyond theirs."""
    rows = rows[(_column(rows, "field", "complex") == "complex") & (_column(rows, "row_ranks", 0) == 0)]
    one, two = (rows[rows["ranks"] == number] for number in (1, 2))
    if one.empty or two.empty:
        return {}
    operation = of_launches(
        (one["comp_s"] / _operations(one)).to_numpy(float), "comp_s / operations of the FFT on one rank, blocking, bare"
    )
    field = COMPLEX * two["nx"].astype(float) * two["ny"].astype(float) * two["nz"].astype(float)
    copied = COPIED_BY_TWO * field * two["fields"].astype(float)
    beyond = (two["comp_s"] - _operations(two) / 2 * operation.value).clip(lower=0)
    source = "comp_s of the FFT on two ranks beyond its operations / bytes copied, blocking, bare"
    return {
        "fft_s_per_operation": operation,
        "copied_s_per_byte": of_launches((beyond / copied).to_numpy(float), source),
    }


def _operations(rows: pd.DataFrame) -> pd.Series[Any]:
    """Of all ranks."""
    return rows["mops"] * 1e6 * rows["elapsed_s"]


def _minife(rows: pd.DataFrame) -> dict[str, Number]:
    """A byte of the matrix and the vectors, on the first of two ranks, which has the lower half of z."""
    more = _column(rows, "barrier", default=False).astype(bool) | _column(rows, "packets", default=False).astype(bool)
    rows = rows[~more & (rows["ranks"] == 2)]
    if rows.empty:
        return {}
    nodes = ((rows["nz"].astype(int) + 1) // 2) * (rows["ny"].astype(int) + 1) * (rows["nx"].astype(int) + 1)
    streamed = nodes * rows["iterations"] * (STREAMED_BY_PRODUCT + STREAMED_BY_VECTORS)
    source = "comp_s of miniFE on two ranks / bytes streamed, blocking, bare"
    return {"streamed_s_per_byte": of_launches((rows["comp_s"] / streamed).to_numpy(float), source)}
