# SPDX-License-Identifier: BSD-3-Clause
"""M3: A dedicated core against SMT against sharing."""

from __future__ import annotations

from analysis.chapter import Chapter
from analysis.figures.curves import Curves
from analysis.studies.miwa.common import PAPER

ORDER = ("shared", "smt-sibling", "dedicated")
FIGURES = tuple(
    Curves(
        name=name,
        study=study,
        title=title,
        quantity="elapsed_s",
        formula="time of a repetition, all ranks (lower is better; Miwa et al., future plan: measured, nothing was "
        "claimed)",
        x="placement",
        x_label="where progress runs",
        x_axis="words",
        y_label="time",
        log_y=False,
        order=ORDER,
        meanings={"shared": "same CPU", "smt-sibling": "SMT sibling", "dedicated": "another core"},
    )
    for name, study, title in (
        ("placement_minighost", "placement", "miniGhost, halos beside the computation, against the place of progress"),
        ("placement_himeno", "placement-himeno", "Himeno, nothing to overlap, against the place of progress"),
    )
)

CHAPTER = Chapter(
    "M3",
    ("placement", "placement-himeno"),
    PAPER,
    "a dedicated core against SMT against sharing",
    figures=FIGURES,
    note="the paper's future plan: measured, nothing was claimed",
)
