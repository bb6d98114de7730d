# SPDX-License-Identifier: BSD-3-Clause
"""./bench harm: every workload under every preset, against bare."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from harness import systems, turns, variants
from harness.commands import options
from harness.errors import UsageError
from harness.harm.cover import Workload, workloads
from harness.mpis import MPIS, WHEEL_MPIS
from harness.paths import STATE_DIR
from harness.request import choose_variants, parse_list
from harness.setup import build
from harness.setup import mpi as mpi_setup
from harness.setup.steps import say


def harm(
    mpi: options.Mpis = "",
    variant: Annotated[str, typer.Option("--variant", metavar="V,...", help="Default: every preset.")] = "",
    only: Annotated[str, typer.Option("--only", metavar="WORDS", help="Workloads whose names hold these words.")] = "",
    system: options.System = "vcluster",
    launches: Annotated[int, typer.Option("--launches", min=1, help="Launches a variant.")] = 6,
    seed: options.Seed = 1,
    list_only: Annotated[bool, typer.Option("--list", help="What is covered, with its points; run nothing.")] = False,
    data: Annotated[
        Path, typer.Option("--data", metavar="DIR", show_default=False, help="Where samples are kept; else .bench.")
    ] = STATE_DIR / "harm",
    table_only: Annotated[bool, typer.Option("--table-only", help="Only the table of what is kept.")] = False,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Where the table goes.")] = None,
) -> int:
    """Compare every workload under every preset with bare. Exit status 1 if adaptive harms one.

    Example: ./bench harm --mpi mpich --variant adaptive --only overlap
    """
    from harness.harm.table import harmed, markdown  # noqa: PLC0415 - a second of imports

    names = choose_variants(variant) or list(variants.presets())
    mpis = [mpi_setup.by_name(name).name for name in parse_list(mpi)] or list(WHEEL_MPIS)
    if list_only:
        build.ensure(MPIS[mpis[0]])
        for workload in _chosen(mpis[0], only):
            print(f"{workload.name}: {json.dumps(workload.point)}")
        return 0
    if not table_only:
        _measure(mpis, names, only, systems.by_name(system), launches, seed, data)
    pieces = [json.loads(path.read_text()) for path in sorted(data.glob("*.json"))]
    if not pieces:
        raise UsageError(f"{data} holds no samples: leave --table-only out, or name the folder that does with --data.")
    text = markdown(pieces)
    if out is None:
        print(text)
    else:
        out.write_text(text)
    found = harmed(pieces, "adaptive")
    for name in found:
        say(f"adaptive harms {name}")
    return 1 if found else 0


def _chosen(mpi: str, only: str) -> list[Workload]:
    found = workloads(MPIS[mpi].build_dir / "bin")
    chosen = [workload for workload in found if only in workload.name]
    if not chosen:
        raise UsageError(f"No workload's name holds '{only}'. There are: {', '.join(w.name for w in found)}.")
    return chosen


def _measure(
    mpis: list[str], names: list[str], only: str, system: systems.System, launches: int, seed: int, data: Path
) -> None:
    from harness.harm.measure import SIZES, piece  # noqa: PLC0415

    if system.name not in ("vcluster", "local"):
        raise UsageError(f"./bench harm runs on vcluster or local, not on {system.name}.")
    if reason := system.why_not():
        raise UsageError(f"{reason} --system local runs on this machine without virtual nodes.")
    system.set_up(mpis)
    data.mkdir(parents=True, exist_ok=True)
    with turns.alone("harm"), system.open(max(nodes for _, nodes in SIZES)) as opened:
        for name in mpis:
            for workload in _chosen(name, only):
                say(f"{workload.name} on {name} ...")
                found: dict[str, Any] = piece(workload, MPIS[name], system, opened, names, launches, seed)
                given = f"--variant {','.join(names)} --system {system.name} --launches {launches} --seed {seed}"
                found["command"] = f"./bench harm --mpi {name} --only '{workload.name}' {given}"
                path = data / f"{workload.name.replace(' ', '.')}.{name}.json"
                path.write_text(json.dumps(found, indent=1) + "\n")
