# SPDX-License-Identifier: BSD-3-Clause
"""Whether two sessions may be compared at all: the same machine and the same network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

DECISIVE = {
    "cpu_model": "processors",
    "sockets": "numbers of sockets",
    "cores": "numbers of cores",
    "threads_per_core": "numbers of threads a core",
}
TOLD = {"kernel": "kernels", "governor": "frequency governors", "turbo": "turbo settings"}


def differences(base: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """(reasons not to compare, what else differs and the reader should know), each a sentence."""
    reasons: list[str] = []
    notes: list[str] = []
    machines = [_mapping(session, "machine") for session in (base, new)]
    for session, machine in zip((base, new), machines, strict=True):
        if not machine.get("cpu_model"):
            reasons.append(f"session {session['session']} does not say what machine it ran on")
    for table, sentences in ((DECISIVE, reasons), (TOLD, notes)):
        for name, words in table.items():
            a, b = (machine.get(name) for machine in machines)
            if a != b and None not in (a, b):
                sentences.append(f"different {words}: {a} in BASE, {b} in NEW")
    networks = [session.get("network") for session in (base, new)]
    if networks[0] != networks[1] and None not in networks:
        reasons.append(f"different networks: {networks[0]} in BASE, {networks[1]} in NEW")
    for name in sorted(_mapping(base, "mpis").keys() & _mapping(new, "mpis").keys()):
        a, b = (_mapping(_mapping(session, "mpis"), name).get("version") for session in (base, new))
        if a != b:
            notes.append(f"different versions of {name}: {a} in BASE, {b} in NEW")
    return reasons, notes


def _mapping(of: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = of.get(name)
    return value if isinstance(value, Mapping) else {}
