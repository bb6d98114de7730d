# SPDX-License-Identifier: BSD-3-Clause
"""Strong and weak scaling as a model predicts it. Nothing is claimed of it."""

from __future__ import annotations

from analysis.chapter import Chapter
from analysis.figures.scaling import Scaling

STUDIES = ("scaling-overlap", "scaling-halo", "scaling-iallreduce", "scaling-grid", "scaling-fft")
STRONG = ("scaling-grid", "scaling-fft")

FIGURE = Scaling("scaling", STUDIES, STRONG, "Time over the number of ranks")

CHAPTER = Chapter(
    "scaling",
    ("scaling-*",),
    "",
    "over the number of ranks",
    figures=(FIGURE,),
    note="./bench scaling prints what a model predicts",
)
