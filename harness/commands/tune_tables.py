# SPDX-License-Identifier: BSD-3-Clause
"""What ./bench tune --list prints: the variables of MPIs and the settings of the engine that are known."""

from __future__ import annotations

from analysis.text_table import plain
from harness.sessions import space as spaces


def tables() -> str:
    """Every variable and every setting of the engine that is tuned."""
    parts = []
    for table in spaces.tables():
        tried = "" if table.tried else " (as documented, not run here)"
        rows = [[one.name, _described(one)] for one in table.variables]
        head = f"{table.table}, for {', '.join(table.mpis)}{tried}. Source: {table.source}"
        parts += [head, plain(["variable", "what it is"], rows), ""]
    rows = [[name, ", ".join(values)] for name, values in spaces.ENGINE.items()]
    told = "The engine (what they mean: ./bench exec --mpi mpich -- progress-info)"
    return "\n".join([*parts, told, plain(["setting", "tried"], rows)])


def _described(one: spaces.Variable) -> str:
    tried = ", ".join(one.values)
    return f"{one.meaning}; default: {one.default}; range: {one.range}; tried: {tried}; read back by {one.read_back}"
