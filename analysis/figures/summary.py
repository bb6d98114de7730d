# SPDX-License-Identifier: BSD-3-Clause
"""Records -> one tidy frame of a recorded quantity: what the figures of studies without overlap metrics draw.

frame = summary(Evidence(load(sessions)), "latency-flavours", "latency_s", ("min", "median"))

One row a (session, system, mpi, variant, point, statistic), with the point's parameters as columns, and value, low,
high, interval (what kind, in words), defensible, launches, samples, status, reason, converged, disturbance (the share
of measured time that something else took, NaN where unknown), work_units (where the work was calibrated, and all
launches of the point did the same). A point that has no value keeps its row, with the status and the reason.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from analysis.evidence import SETTING, Evidence
from analysis.records import frames
from analysis.records.load import parameter_columns
from analysis.statistics.interval import of_medians

NOTHING = {"value": float("nan"), "low": float("nan"), "high": float("nan"), "interval": "no value"}
COLUMNS = [*SETTING, "study", "variant", "point", "statistic", *NOTHING, "status", "reason", "converged"]


def summary(
    evidence: Evidence, study: str, quantity: str, statistics: Sequence[str] = ("median",), quantities: bool = False
) -> pd.DataFrame:
    """The frame of one study and quantity; `statistics` of evidence.STATISTICS or "median", each of a launch.

    `quantities`: name the quantity in a column, for frames that will be put together.
    """
    if study not in evidence.studies:  # of most studies a session has nothing
        return evidence.choice.of(pd.DataFrame(columns=COLUMNS))
    points = evidence.records.points
    rows: list[dict[str, Any]] = []
    chosen = points[points["study"] == study]
    if "calibration" in chosen:
        chosen = chosen[chosen["calibration"].isna()]
    for keys, part in frames.groups(chosen, [*SETTING, "variant", "point"]):
        head = dict(zip([*SETTING, "variant", "point"], keys, strict=True))
        head |= {"study": study, **parameter_columns(json.loads(keys[-1])), **_state(part), **_work(part)}
        head |= {"quantity": quantity} if quantities else {}
        good = part[part["status"] == "ok"]
        stolen = evidence.disturbance(good)
        head["disturbance"] = math.nan if stolen is None else stolen  # a float always: frames are put together
        rows += [{**head, "statistic": name, **_value(evidence, good, quantity, name)} for name in statistics]
    return evidence.choice.of(pd.DataFrame(rows, columns=None if rows else COLUMNS))


def _work(part: pd.DataFrame) -> dict[str, Any]:
    done = frames.unique(part["work_units"]) if "work_units" in part else []
    return {"work_units": done[0] if len(done) == 1 else None}


def _state(part: pd.DataFrame) -> dict[str, Any]:
    bad = part[part["status"] != "ok"]
    converged = part["converged"].dropna()
    facts = {"launches": part["launch"].nunique(), "converged": bool(converged.all()) if len(converged) else None}
    if not len(bad):
        return {"status": "ok", "reason": None, **facts}
    first = bad.iloc[0]
    return {"status": first["status"] if len(bad) == len(part) else "partial", "reason": first["reason"], **facts}


def _value(evidence: Evidence, points: pd.DataFrame, quantity: str, statistic: str) -> dict[str, Any]:
    launches = evidence.launches(points, quantity, statistic) if len(points) else []
    if not launches:
        return {**NOTHING, "defensible": False, "samples": 0}
    found = of_medians(lambda x: x, {"x": launches})
    return {
        "value": found.value,
        "low": found.low,
        "high": found.high,
        "interval": found.kind,
        "defensible": found.defensible,
        "samples": sum(map(len, launches)),
    }
