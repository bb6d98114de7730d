# SPDX-License-Identifier: BSD-3-Clause
"""All figures that there are, and which of them some records can fill."""

from __future__ import annotations

from types import ModuleType

import pandas as pd

from analysis.figures import overlap_efficiency, overlap_map, overlap_ratio, send_time
from analysis.figures.toolkit import Drawn

FIGURES: list[ModuleType] = [overlap_efficiency, overlap_ratio, send_time, overlap_map]


def draw_all(frame: pd.DataFrame, provenance: str) -> list[Drawn]:
    """Every figure that `frame` (of evaluate()) has points for, in the report's order."""
    return [drawn for module in FIGURES for drawn in module.draw(frame, provenance)]
