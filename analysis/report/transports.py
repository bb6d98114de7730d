# SPDX-License-Identifier: BSD-3-Clause
"""By what the MPI carried messages, as the engine saw it in the process.

An MPI may choose otherwise where it is asked for another thread level: then a variant differs from another one in more
than the engine. Of a launch without the engine nothing is known; the variant `off` has it and changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from analysis.records import frames

REFERENCE = "off"


def words(transport: Mapping[str, Any]) -> str:
    """ "ob1, /dev/knem, tcp": Open MPI's component, devices, sockets; those of UDP may be the engine's own bell."""
    parts = [transport.get("component"), *transport.get("devices", []), "tcp" if transport.get("tcp") else ""]
    return ", ".join(filter(None, parts)) or "unknown"


def differing(launches: pd.DataFrame) -> list[list[str]]:
    """Rows of the table of gaps: variants whose transport is another one than that of `off`, or else of the first."""
    rows = []
    for (_, _, study, mpi), part in frames.groups(launches, ["session", "system", "study", "mpi"]):
        seen = {variant: found for (variant,), one in frames.groups(part, ["variant"]) if (found := _of(one))}
        if len(seen) < 2:
            continue
        usual = REFERENCE if REFERENCE in seen else next(iter(seen))
        for variant, found in seen.items():
            if found != seen[usual]:
                why = f"{' or '.join(found)}; {' or '.join(seen[usual])} under {usual}: not the engine alone differs"
                rows.append([study, mpi, variant, "transport", "differs", why])
    return rows


def _of(launches: pd.DataFrame) -> list[str]:
    """Of all ranks of a variant's launches that had the engine; each once."""
    engines = [engine for every in launches["engines"] for engine in every]
    return sorted({words(engine["transport"]) for engine in engines if engine.get("transport")})
