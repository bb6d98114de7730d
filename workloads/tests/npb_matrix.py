# SPDX-License-Identifier: BSD-3-Clause
"""NPB's kernels once each in a class, on each MPI, under each variant: does every one of them verify its result?

The small classes are in the tests. A and B take an hour of two CPUs; a launch that needs longer than --limit is no
failure and is named. It goes on where it was ended: each launch is a line of --out.

    .venv/bin/python -m workloads.tests.npb_matrix --out build/npb-a.jsonl --size A --ranks 1,4
    .venv/bin/python -m workloads.tests.npb_matrix --out build/npb-b.jsonl --size B --limit 120
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

from analysis.text_table import markdown
from harness.base.mpis import MPIS, WHEEL_MPIS
from workloads.tests.conftest import Launcher, measure
from workloads.tests.test_npb import KERNELS, VARIANTS, points

VERIFIED, TOO_LONG, FAILED = "verified", "too long", "failed"
AXES = ("kernel", "mode", "ranks", "mpi", "variant")
Cell = dict[str, Any]


def cells(size: str, ranks: list[int]) -> Iterator[Cell]:
    """What is asked for, the shortest kernels first."""
    for kernel, number in product(KERNELS, ranks):
        for point in points(kernel, size):
            mode = dict(part.split("=") for part in point.split(",")).get("mode", "blocking")
            for mpi, variant in product(WHEEL_MPIS, VARIANTS):
                yield dict(zip(AXES, (kernel, mode, number, mpi, variant), strict=True)) | {"point": point}


def launched(cell: Cell, limit_s: float) -> Cell:
    """The cell with what became of it and its seconds."""
    mpi = MPIS[cell["mpi"]]
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        launcher = Launcher(mpi, mpi.build_dir, Path(folder), "npb", cell["variant"], limit_s)
        try:
            measure(launcher, cell["ranks"], cell["kernel"], cell["point"])
            end = VERIFIED
        except subprocess.TimeoutExpired:
            end = TOO_LONG
        except AssertionError as error:
            end = f"{FAILED}: {str(error)[:300]}"
    return cell | {"end": end, "took_s": round(time.monotonic() - begin, 1)}


def table(found: list[Cell]) -> list[str]:
    """A row a kernel and mode, a column a number of ranks: how many MPIs and variants verified their result."""
    ranks = sorted({cell["ranks"] for cell in found})
    rows = []
    for kernel, mode in dict.fromkeys((cell["kernel"], cell["mode"]) for cell in found):
        mine = [cell for cell in found if (cell["kernel"], cell["mode"]) == (kernel, mode)]
        texts = [_text(Counter(_word(cell) for cell in mine if cell["ranks"] == number)) for number in ranks]
        rows.append([kernel.upper(), mode, *texts])
    return markdown(["kernel", "mode", *(f"{n} rank{'s' * (n > 1)}" for n in ranks)], rows)


def _word(cell: Mapping[str, Any]) -> str:
    return FAILED if cell["end"].startswith(FAILED) else str(cell["end"])


def _text(counted: Counter[str]) -> str:
    others = [f"{counted[word]} {word}" for word in (TOO_LONG, FAILED) if counted[word]]
    return ", ".join([f"{counted[VERIFIED]} of {counted.total()} verified", *others]) if counted else "–"


def main(arguments: list[str]) -> int:
    """Status 1 where one failed."""
    parser = argparse.ArgumentParser(description="NPB's kernels on each MPI under each variant, verified or not.")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="a line a launch; what is there stays")
    parser.add_argument("--size", default="A", metavar="CLASS", help="the class of all kernels")
    parser.add_argument("--ranks", default="1,2,4", metavar="N,...")
    parser.add_argument("--limit", type=float, default=300.0, metavar="S", help="seconds a launch")
    asked = parser.parse_args(arguments)
    found = [json.loads(line) for line in asked.out.read_text().splitlines()] if asked.out.exists() else []
    there = {tuple(cell[axis] for axis in AXES) for cell in found}
    for cell in cells(asked.size, [int(number) for number in asked.ranks.split(",")]):
        if tuple(cell[axis] for axis in AXES) not in there:
            found.append(launched(cell, asked.limit))
            with asked.out.open("a") as lines:
                lines.write(json.dumps(found[-1]) + "\n")
            print(*(found[-1][axis] for axis in AXES), found[-1]["end"], f"{found[-1]['took_s']} s", flush=True)
    print("\n".join(table(found)))
    return 1 if any(_word(cell) == FAILED for cell in found) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
