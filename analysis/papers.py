# SPDX-License-Identifier: BSD-3-Clause
"""The papers' published numbers, results/papers/*.csv, as one frame."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

FOLDER = Path(__file__).resolve().parent.parent / "results" / "papers"
COLUMNS = ["study", "quantity", "relation", "value", "high", "unit", "condition", "source", "machine"]


def published(folder: Path = FOLDER) -> pd.DataFrame:
    """One row a number, with `paper` the file it stands in; see results/papers/README.md for the columns."""
    return pd.concat(
        [pd.read_csv(file).assign(paper=file.stem) for file in sorted(folder.glob("*.csv"))], ignore_index=True
    )
