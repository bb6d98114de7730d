# SPDX-License-Identifier: BSD-3-Clause
"""./bench engine-costs: what the engine costs on this machine, against its budgets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from harness import turns
from harness.commands import options
from harness.costs.budgets import PARTS
from harness.errors import UsageError
from harness.mpis import MPIS, WHEEL_MPIS
from harness.paths import STATE_DIR
from harness.request import parse_list
from harness.setup import build
from harness.setup import mpi as mpi_setup
from harness.setup.steps import say

TARGETS = ("all", "engine_benchmarks")


def engine_costs(
    part: Annotated[str, typer.Option("--part", metavar="P,...", help=f"Of {', '.join(PARTS)}; default: all.")] = "",
    mpi: options.Mpis = "",
    launches: Annotated[int, typer.Option("--launches", min=1, help="Launches a variant.")] = 6,
    seed: options.Seed = 1,
    data: Annotated[
        Path, typer.Option("--data", metavar="DIR", show_default=False, help="Where samples are kept; else .bench.")
    ] = STATE_DIR / "engine-costs",
    table_only: Annotated[
        bool, typer.Option("--table-only", help="Measure nothing: the table of what is kept.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Where the table goes; else stdout.")
    ] = None,
) -> int:
    """Measure the engine's costs and write the table of its budgets, as Markdown, from all that is kept in --data.

    Example: ./bench engine-costs --part calls,ping-pong --mpi mpich --out costs.md
    """
    from harness.costs.table import markdown  # noqa: PLC0415 - a second of imports

    parts = parse_list(part) or list(PARTS)
    for name in parts:
        if name not in PARTS:
            raise UsageError(f"There is no part '{name}'. There are: {', '.join(PARTS)}.")
    mpis = [mpi_setup.by_name(name).name for name in parse_list(mpi)] or list(WHEEL_MPIS)
    if not table_only:
        _measure(parts, mpis, launches, seed, data)
    pieces = [json.loads(path.read_text()) for path in sorted(data.glob("*.json"))]
    if not pieces:
        raise UsageError(f"{data} holds no samples: leave --table-only out, or name the folder that does with --data.")
    text = markdown(pieces)
    if out is None:
        print(text)
    else:
        out.write_text(text)
    return 0


def _measure(parts: list[str], mpis: list[str], launches: int, seed: int, data: Path) -> None:
    from harness.costs.measure import RUNNERS  # noqa: PLC0415

    for name in mpis:
        for target in TARGETS:
            build.ensure(MPIS[name], target)
    data.mkdir(parents=True, exist_ok=True)
    with turns.alone("engine-costs"):
        for part in parts:
            for name in mpis[:1] if part == "core" else mpis:
                say(f"measuring {part}{'' if part == 'core' else f' on {name}'} ...")
                piece = RUNNERS[part](MPIS[name], launches, seed)
                path = data / f"{part}{f'.{name}' if piece['mpi'] else ''}.json"
                path.write_text(json.dumps(piece, indent=1) + "\n")
