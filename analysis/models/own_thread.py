# SPDX-License-Identifier: BSD-3-Clause
"""An MPI's own progress thread: on whose core it polls, for how long at a time, and whether it alone moves messages.

It polls all the time, so that it takes its part of a core even where nothing is to be moved: a computation there lasts
longer by that part, and a program that waits has its core again only when the threads have had theirs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from analysis.models.medians import Number, of_launches

OWN = "mpi-async"
COMPUTES = 0.01  # seconds: a computation that many slices interrupt


def busy_threads(first: pd.DataFrame, second: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """The part `async` of each MPI's model, from the messages of two ranks, a table each: bare, and with its thread.

    The slice is the scheduler's, and so the same for all MPIs. It is 0 where none of them has a thread of its own.
    """
    sides = (first, second)
    mpis = [str(mpi) for mpi in first["mpi"].unique()]
    having = [mpi for mpi in mpis if not first[(first["mpi"] == mpi) & (first["variant"] == OWN)].empty]
    beside = {mpi: [_beside(side[side["mpi"] == mpi]) for side in sides] for mpi in having}
    alone = {mpi: _hands_over(first[first["mpi"] == mpi]) for mpi in having}
    turns = [_slices(mpi, sides, beside[mpi], hands_over=alone[mpi]) for mpi in having]
    source = f"half of a round trip, {OWN}, by the turns on the core that it waits for"
    whole = of_launches(np.concatenate(turns), source) if turns else Number(0, 0, 0, f"no MPI has {OWN}")
    return {
        mpi: {
            "exists": mpi in having,
            "slice_s": whole.entry(),
            "hands_over": alone.get(mpi, False),
            "beside": [number.entry() for number in beside.get(mpi, [])],
        }
        for mpi in mpis
    }


def _variant(rows: pd.DataFrame, variant: str) -> pd.DataFrame:
    return rows[rows["variant"] == variant]


def _beside(rows: pd.DataFrame) -> Number:
    """Busy threads on this rank's core: how many times as long its computation lasts, less one."""
    lasting = rows[rows["comp_s"] >= COMPUTES]
    bare = _variant(lasting, "bare").groupby("size_bytes", observed=True)["comp_s"].median()
    own = _variant(lasting, OWN)
    own = own[own["size_bytes"].isin(bare.index)]
    if own.empty:
        return Number(1, 1, 1, "no computation of some slices was recorded: its own thread")
    times = own["comp_s"].to_numpy(float) / bare.loc[own["size_bytes"]].to_numpy(float)
    return of_launches(np.maximum(0, np.round(times - 1)), f"comp_s, {OWN}, by comp_s, bare, less 1")


def _hands_over(rows: pd.DataFrame) -> bool:
    """Its calls of sends take less than half of what they take without the thread: they put nothing into the socket."""
    shortest = rows[rows["size_bytes"] == rows["size_bytes"].min()]
    own, bare = (_variant(shortest, name)["post_s"].median() for name in (OWN, "bare"))
    return bool(own < bare / 2)


def _slices(
    mpi: str, sides: tuple[pd.DataFrame, pd.DataFrame], beside: list[Number], *, hands_over: bool
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """From the empty messages behind the shortest, on the rank that waits for its core the longest.

    A program that may move messages itself finds the lock taken, and gives its turn away: it waits for the threads'
    turns. One that hands over keeps its turn, too.
    """
    shortest = [_variant(side[side["mpi"] == mpi], OWN) for side in sides]
    shortest = [rows[rows["size_bytes"] == rows["size_bytes"].min()] for rows in shortest]
    most = max(range(len(sides)), key=lambda rank: (beside[rank].value, shortest[rank]["ack_s"].median()))
    turns = max(1, beside[most].value) + (1 if hands_over else 0)
    return shortest[most]["ack_s"].to_numpy(float) / turns
