# SPDX-License-Identifier: BSD-3-Clause
"""Times over the number of ranks, which is another one in each session; and what the engine and its settings save."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from analysis.evidence import SETTING, Evidence
from analysis.figures.summary import summary
from analysis.metrics.evaluate import REFERENCE
from analysis.records import frames

QUANTITIES = ("total_s", "elapsed_s")  # of the benchmarks of overlap, of the applications
DEFAULTS = "defaults"
INTENTIONS = ("comp_s", "comp_over_comm")


def by_ranks(evidence: Evidence, studies: Sequence[str]) -> pd.DataFrame:
    """The summary of these studies' times: `ranks`; `what`, the study with what tells its points apart; `setting`,
    what was swept of the engine; `saved`, the share of bare's time in the same session. Empty where there is none."""
    parts = [part for study in studies if len(part := _times(evidence, study))]
    if not parts:
        return pd.DataFrame()
    rows = [row for part in parts for row in frames.rows(part)]  # concat would guess the type of an empty column
    return pd.DataFrame(rows).sort_values("ranks", kind="stable").reset_index(drop=True)


def _times(evidence: Evidence, study: str) -> pd.DataFrame:
    for quantity in QUANTITIES:
        frame = summary(evidence, study, quantity)
        if len(frame) and frame["value"].notna().any():
            return _with_saved(_described(frame, evidence, study))
    return pd.DataFrame()


def _described(frame: pd.DataFrame, evidence: Evidence, study: str) -> pd.DataFrame:
    parameters = [name for name in evidence.records.parameters if name in frame]
    swept = _swept(frame, parameters)
    apart = [
        name for name in parameters
        if name not in swept and name not in INTENTIONS
        and (frame.groupby("session")[name].nunique(dropna=False) > 1).any()
    ]  # fmt: skip
    launches = evidence.records.launches
    ranks = launches[launches["study"] == study].groupby("session")["world_size"].max()
    return frame.assign(
        ranks=frame["session"].map(ranks).astype(int),
        what=[" ".join([study, *_words(row, apart)]) for row in frames.rows(frame)],
        setting=[", ".join(_settings(row, swept)) or DEFAULTS for row in frames.rows(frame)],
    )


def _swept(frame: pd.DataFrame, parameters: Sequence[str]) -> list[str]:
    """What bare's points have not: no engine takes it there."""
    bare, others = frame[frame["variant"] == REFERENCE], frame[frame["variant"] != REFERENCE]
    return [name for name in parameters if not bare[name].notna().any() and others[name].notna().any()]


def _words(row: dict[str, Any], names: Sequence[str]) -> list[str]:
    return [f"{row[name]:g}" if isinstance(row[name], float) else str(row[name]) for name in names]


def _settings(row: dict[str, Any], swept: Sequence[str]) -> list[str]:
    return [f"{name} {row[name]:g}" for name in swept if pd.notna(row[name])]


def _with_saved(frame: pd.DataFrame) -> pd.DataFrame:
    keys = [*SETTING, "what"]
    bare = frame[frame["variant"] == REFERENCE].drop_duplicates(keys).set_index(keys)["value"]
    base = [bare.get(key, np.nan) for key in frame[keys].itertuples(index=False, name=None)]
    return frame.assign(saved=1 - frame["value"] / np.array(base, float))
