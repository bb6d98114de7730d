# SPDX-License-Identifier: BSD-3-Clause
"""How much of what was measured something else took: the hypervisor, and other programs on the ranks' CPUs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

NOISE_FIELDS = ["watched_s", "others_s", "steal_s", "softirq_s", "involuntary_switches"]
DISTURBED = 0.02  # share of the measured time that others may take before a point is called disturbed
# /proc/stat counts in these: of a CPU used by turns the sum is wrong by the root of TICK_S times the time
TICK_S = 0.01
SWITCH_S = 3e-6  # that a switch to something else takes at least


def disturbance(points: pd.DataFrame, measured_s: float = 0.0, *, by_switches: bool = True) -> float | None:
    """The share of the time of these rows (launches and ranks) that something else took; None if not recorded.

    `measured_s`: how long the samples took, of records that do not say how long was looked at. Without `by_switches`
    what the program lost to threads of its own process, as the engine's, is none.
    """
    known = points[NOISE_FIELDS].astype(float).sum(min_count=1)
    if not by_switches:
        known["involuntary_switches"] = np.nan
    time = known["watched_s"] if known["watched_s"] > 0 else measured_s
    if known.drop("watched_s").isna().all() or time <= 0:
        return None
    others = max(0.0, np.nan_to_num(known["others_s"]) - np.sqrt(TICK_S * time))
    taken = (np.nan_to_num(known["steal_s"]) + others, SWITCH_S * known["involuntary_switches"])
    return float(np.nanmax(taken) / time)


def measured_s(samples: Mapping[str, npt.NDArray[np.float64]]) -> float:
    """The time in seconds that the samples of one rank at one point took; 0 where they do not say."""
    timed = ("elapsed_s",) if "elapsed_s" in samples else ("total_s", "comm_s", "comp_s")
    return float(sum(samples[name].sum() for name in timed if name in samples))


def took(share: Any, most: str = "") -> str:
    """What to say of a point of which something else took that share, which no interval includes; or nothing."""
    return f"something else took {most}{100 * share:.0f} % of the measured time" if (share or 0) > DISTURBED else ""


def disturbed(share: float | None) -> str:
    """Why a point cannot decide that was disturbed for that share of its measured time."""
    return f"the machine was disturbed: {took(share)}" if took(share) else ""
