# SPDX-License-Identifier: BSD-3-Clause
"""The few pandas idioms used everywhere, with types that say what comes out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd


def groups(frame: pd.DataFrame, by: Sequence[str]) -> Iterator[tuple[tuple[Any, ...], pd.DataFrame]]:
    """(values of `by`, rows) in order of first appearance; missing values make a group of their own."""
    for keys, part in frame.groupby(list(by), sort=False, dropna=False):
        yield (keys if isinstance(keys, tuple) else (keys,)), part


def rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows as dictionaries."""
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def unique(column: pd.Series[Any]) -> list[Any]:
    """The values without repetition, in order of first appearance, missing ones left out."""
    return list(column.dropna().unique())
