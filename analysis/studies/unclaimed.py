# SPDX-License-Identifier: BSD-3-Clause
"""Studies of which nothing is claimed: which node, or link between two, is slower than the others, see ./bench nodes;
and what a model has predicted before, of which ./bench validate-model says how far it was away."""

from __future__ import annotations

from analysis.subject import Subject

NODES = Subject(
    "node-pairs", ("node-pairs",), "", "nodes and their links", note="./bench nodes names those that are odd"
)
VALIDATION = Subject(
    "validation",
    ("validation-*",),
    "",
    "predicted before it was measured",
    note="./bench validate-model holds these against what a model predicted",
)

SUBJECTS = (NODES, VALIDATION)
