# SPDX-License-Identifier: BSD-3-Clause
"""Which node, or link between two, is slower than the others? Nothing is claimed of it: ./bench nodes says which."""

from __future__ import annotations

from analysis.chapter import Chapter

CHAPTER = Chapter(
    "node-pairs", ("node-pairs",), "", "nodes and their links", note="./bench nodes names those that are odd"
)

CHAPTERS = (CHAPTER,)
