# SPDX-License-Identifier: BSD-3-Clause
"""Counts what the engines of many ranks on one machine do: rings, wakes, fences, switches. No times.

    .venv/bin/python -m progress_engine.tests.many_ranks --ranks 64,256

Many more ranks than CPUs say nothing about time, but how often an engine rings, and wakes, for one start does not
depend on the number of CPUs. So the counts tell what a node of that many cores would have to bear. It ends with 1 where
a rank rang more often than sixteen times for each start and 32 times for each poll that moved something.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

from analysis.text_table import markdown
from harness.base.mpis import MPIS, Mpi

from .conftest import compiled, reports

PATTERNS = ("allreduce", "alltoall", "halo")
RINGS_AT_ONCE = 16  # Doorbell::rings_at_once
PARTNERS_AT_ONCE = 32  # Doorbell::partners_at_once
Report = dict[str, Any]

# What is counted: for each rank and round.
COUNTS: dict[str, Callable[[Report], int]] = {
    "starts": lambda report: report["tracked"],
    "rings": lambda report: report["doorbell"]["rings"],
    "left out": lambda report: report["doorbell"]["bounded"],
    "others woken": lambda report: report["doorbell"]["wakes"],
    "polls": lambda report: report["polls"],
    "that moved": lambda report: report["productive_polls"],
    "wakes": lambda report: report["wakes"],
    "parks": lambda report: report["parks"],
    "fences": lambda report: report["fences"],
    "switches": lambda report: sum(
        thread["voluntary_switches"] + thread["involuntary_switches"] for thread in report["threads"]
    ),
}


def row(told: list[Report], rounds: int) -> list[str]:
    """The mean over all ranks, and the most that one of them had."""
    cells = []
    for count in COUNTS.values():
        values = [count(report) / rounds for report in told]
        cells.append(f"{fmean(values):.3g} ({max(values):.3g})")
    return cells


def beyond_the_bound(told: list[Report]) -> Iterator[str]:
    for rank, report in enumerate(told):
        most = RINGS_AT_ONCE * report["tracked"] + PARTNERS_AT_ONCE * report["productive_polls"]
        if (rings := report["doorbell"]["rings"]) > most:
            yield f"rank {rank} rang {rings} times, {most} would be the most"


def launch(mpi: Mpi, program: Path, folder: Path, pattern: str, ranks: int, rounds: int, variant: str) -> list[Report]:
    engine = [str(mpi.build_dir / "bin" / "progress-run"), "--variant", variant]
    engine += ["--set", f"report_file={folder}/report.%r", "--"]
    done = subprocess.run(
        ["timeout", "-k", "5", "1800", *mpi.launch_command(ranks, ranks), *engine, str(program),
         pattern, str(rounds)],
        env=os.environ | mpi.environment("shm"), capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    if done.returncode != 0:
        raise SystemExit(f"many_ranks: {pattern} on {ranks} ranks ended with {done.returncode}: {done.stderr[-2000:]}")
    return reports(folder, ranks)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", default="64,256", help="numbers of ranks, with commas")
    parser.add_argument("--rounds", type=int, default=20, help="starts of each pattern")
    parser.add_argument("--mpi", default="mpich", choices=sorted(MPIS))
    parser.add_argument("--variant", default="adaptive", help="a preset of the engine")
    given = parser.parse_args(arguments)
    mpi = MPIS[given.mpi]
    rows, wrong = [], []
    with tempfile.TemporaryDirectory() as name:
        program = compiled(mpi, "many_ranks.c", Path(name))
        for ranks in map(int, given.ranks.split(",")):
            for pattern in PATTERNS:
                folder = Path(name) / f"{pattern}.{ranks}"
                folder.mkdir()
                told = launch(mpi, program, folder, pattern, ranks, given.rounds, given.variant)
                rows.append([str(ranks), pattern, *row(told, given.rounds)])
                wrong += [f"{pattern} on {ranks} ranks: {what}" for what in beyond_the_bound(told)]
    print(f"{mpi.title}, {given.variant}, {given.rounds} rounds, {os.cpu_count()} CPUs; of a rank in a round, the mean")
    print("over all ranks (the most of one):\n")
    print("\n".join(markdown(["ranks", "pattern", *COUNTS], rows)))
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
