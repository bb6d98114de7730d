# SPDX-License-Identifier: BSD-3-Clause
"""Which line the messages of a session passed, by its records' words, and whether a model has such a line."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pandas as pd

from analysis.errors import UsageError

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
