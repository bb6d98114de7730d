# SPDX-License-Identifier: BSD-3-Clause
"""Where in the metric frame something stands: at comp = comm, and at which comp / comm when it was measured."""

from __future__ import annotations

import numpy as np
import pandas as pd

STUDY = "overlap-ratio"


def at_equal(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of efficiency and inflation at the points of STUDY that were meant to have comp = comm."""
    if "comp_over_comm" not in frame:
        return frame.iloc[:0]
    wanted = frame["metric"].isin(["overlap_efficiency", "compute_inflation"])
    return frame[(frame["study"] == STUDY) & wanted & np.isclose(frame["comp_over_comm"].astype(float), 1.0)]


def measured_ratio(part: pd.DataFrame) -> pd.Series[float]:
    """comp / comm of each point as it was measured on this MPI; as it was meant where bare has no value."""
    measured = part.groupby(["system", "mpi", "point"])["comp_over_comm_measured"].transform("median")
    return measured.fillna(part["comp_over_comm"].astype(float))
