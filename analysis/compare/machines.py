# SPDX-License-Identifier: BSD-3-Clause
"""Whether two sessions may be compared at all: the same machines and the same network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.records import nodes


def differences(base: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """(reasons not to compare, what else differs and the reader should know), each a sentence."""
    reasons: list[str] = []
    notes: list[str] = []
    for session in (base, new):
        if not nodes.values(session, "cpu_model"):
            reasons.append(f"session {session['session']} does not say what machine it ran on")
    for table, sentences in ((nodes.DECISIVE, reasons), (nodes.TOLD, notes)):
        for name, words in table.items():
            old, other = (nodes.values(session, name) for session in (base, new))
            if old and other and old.keys() != other.keys():
                sentences.append(f"different {words}: {_said(old)} in BASE, {_said(other)} in NEW")
    networks = [session.get("network") for session in (base, new)]
    if networks[0] != networks[1] and None not in networks:
        reasons.append(f"different networks: {networks[0]} in BASE, {networks[1]} in NEW")
    for name in sorted(_mapping(base, "mpis").keys() & _mapping(new, "mpis").keys()):
        a, b = (_mapping(_mapping(session, "mpis"), name).get("version") for session in (base, new))
        if a != b:
            notes.append(f"different versions of {name}: {a} in BASE, {b} in NEW")
    return reasons, notes


def _said(values: Mapping[Any, list[str]]) -> str:
    """The value; where the nodes of one session differ, each with its nodes."""
    if len(values) == 1:
        return str(next(iter(values)))
    return " and ".join(f"{value} ({', '.join(names)})" for value, names in values.items())


def _mapping(of: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = of.get(name)
    return value if isinstance(value, Mapping) else {}
