# SPDX-License-Identifier: BSD-3-Clause
"""Which of the engine's settings matters at how many ranks, as a model predicts it. Nothing is claimed of it."""

from __future__ import annotations

from analysis.chapter import Chapter
from analysis.figures.settings_map import SettingsMap

STUDIES = ("wakes-timer-halo", "wakes-timer-iallreduce", "wakes-adaptive-halo", "wakes-adaptive-iallreduce")

FIGURE = SettingsMap("wakes", STUDIES, "What the engine saves by its settings and the number of ranks")

CHAPTER = Chapter(
    "wakes",
    ("wakes-*",),
    "",
    "the engine's settings over the number of ranks",
    figures=(FIGURE,),
    note="./bench scaling wakes prints what a model predicts",
)
