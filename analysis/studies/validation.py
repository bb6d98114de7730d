# SPDX-License-Identifier: BSD-3-Clause
"""What a model has predicted before. Nothing is claimed of it: ./bench validate-model says how far it was away."""

from __future__ import annotations

from analysis.chapter import Chapter

CHAPTER = Chapter(
    "validation",
    ("validation-*",),
    "",
    "predicted before it was measured",
    note="./bench validate-model holds these against what a model predicted",
)

CHAPTERS = (CHAPTER,)
