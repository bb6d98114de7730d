# SPDX-License-Identifier: BSD-3-Clause
"""On how much of its domain a claim was decided: of the points at which the study runs at the scale of the paper."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pandas as pd

from analysis.chapter import Claim
from analysis.evidence import SETTING, Evidence, matching
from harness.base.errors import UsageError
from reframe_checks import catalogue

REPEATED = ("round_trips",)  # says how often something was done, not what


def share_of_domain(claim: Claim, evidence: Evidence, study: str, setting: tuple[str, str, str]) -> str:
    """'at 4 of 52 points of the paper's scale'; empty where all of them were measured, or the study has none there that
    the claim speaks of."""
    points = _of_paper(study)
    where, variant = (getattr(claim.measure, name, None) for name in ("where", "variant"))
    wanted = matching(points, where) if where is not None and len(points) else points.iloc[:0]
    there = evidence.points(study)
    mine = (there["variant"] == variant) & (there[SETTING] == list(setting)).all(axis=1)
    measured = [json.loads(point) for point in there.loc[mine, "point"].unique()]
    found = sum(any(_is(point, one) for one in measured) for point in wanted.to_dict("records"))
    return f"at {found} of {len(wanted)} points of the study's paper scale" if found < len(wanted) else ""


def _of_paper(study: str) -> pd.DataFrame:
    try:
        (known,) = catalogue.by_names([study])
    except UsageError:
        return pd.DataFrame()  # a study that is made for one run, or is no more
    return pd.DataFrame(known.scales["paper"].points() if "paper" in known.scales else [])


def _is(point: Mapping[Any, Any], measured: Mapping[str, Any]) -> bool:
    wanted = {str(name): value for name, value in point.items() if name not in REPEATED and not pd.isna(value)}
    return all(measured.get(name) == value for name, value in wanted.items())
