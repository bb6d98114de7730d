# SPDX-License-Identifier: BSD-3-Clause
"""NPB's kernels once each in a class, on each MPI, under each variant: does every one of them verify its result?

The small classes are in the tests. A and B take an hour and more of two CPUs, so that what matters most comes first:
variants, ranks, kernels and MPIs run in the order that they are named in, the variants outermost. As many launches run
side by side as the CPUs have room for. A launch that needs longer than --limit is no failure: it is named, and what it
ran (kernel, mode, ranks and MPI) is left out under the variants that come after it. It goes on where it was ended: each
launch is a line of --out. Without --class only the table of what is there is printed.

    .venv/bin/python -m workloads.tests.npb_matrix --out build/npb-a.jsonl --class A --ranks 1,4
    .venv/bin/python -m workloads.tests.npb_matrix --out build/npb-b.jsonl --class B --limit 120
    .venv/bin/python -m workloads.tests.npb_matrix --out build/npb-b.jsonl
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from datetime import datetime, timezone
from itertools import groupby, product
from pathlib import Path
from statistics import median
from typing import Any

from analysis.text_table import markdown
from harness.base import git, machine
from harness.base.mpis import MPIS, WHEEL_MPIS
from harness.base.paths import ROOT
from workloads.tests.conftest import Launcher, measure
from workloads.tests.test_npb import KERNELS, VARIANTS, points

VERIFIED, TOO_LONG, LEFT_OUT, FAILED = "verified", "too long", "left out", "failed"
AXES = ("variant", "ranks", "kernel", "mode", "mpi")
ALL = {"variants": VARIANTS, "kernels": KERNELS, "mpis": WHEEL_MPIS}
Cell = dict[str, Any]


def cells(name: str, variants: Sequence[str], ranks: Sequence[int], kernels: Sequence[str],
          mpis: Sequence[str]) -> Iterator[Cell]:  # fmt: skip
    """What is asked for of a class, in the order that it is launched in."""
    for variant, number, kernel in product(variants, ranks, kernels):
        for point, mpi in product(points(kernel, name), mpis):
            mode = dict(part.split("=") for part in point.split(",")).get("mode", "blocking")
            yield dict(zip(AXES, (variant, number, kernel, mode, mpi), strict=True)) | {"point": point}


def key(cell: Mapping[str, Any]) -> tuple[Any, ...]:
    """What is launched once."""
    return tuple(cell[axis] for axis in (*AXES, "point"))


def too_long_before(cell: Cell, found: Sequence[Cell]) -> bool:
    """Whether the same took too long under another variant."""
    same = [name for name in (*AXES, "point") if name != "variant"]
    return any(other["end"] == TOO_LONG and all(other[name] == cell[name] for name in same) for other in found)


def launched(cell: Cell, limit_s: float) -> Cell:
    """The cell with what became of it, its seconds and, of what was verified, its rate."""
    mpi = MPIS[cell["mpi"]]
    began, begin = datetime.now(timezone.utc).isoformat(timespec="seconds"), time.monotonic()
    rate = None
    with tempfile.TemporaryDirectory() as folder:
        launcher = Launcher(mpi, mpi.build_dir, Path(folder), "npb", cell["variant"], limit_s)
        try:
            result = measure(launcher, cell["ranks"], cell["kernel"], cell["point"])
            end, rate = VERIFIED, round(median(result.points[0]["samples"]["mops"]), 1)
        except subprocess.TimeoutExpired:
            end = TOO_LONG
        except AssertionError as error:
            end = f"{FAILED}: {str(error)[:300]}"
    took = {"began": began, "took_s": round(time.monotonic() - begin, 1), "limit_s": limit_s}
    return cell | {"end": end, "mops": rate} | took


def run(asked: Sequence[Cell], found: list[Cell], out: Path, limit_s: float, cpus: int, facts: Cell) -> None:
    """Launch what was not launched yet; `found` grows, and so does the file."""
    there = {key(cell) for cell in found}

    def keep(cell: Cell) -> None:
        found.append(cell | facts)
        with out.open("a") as lines:
            lines.write(json.dumps(found[-1]) + "\n")
        print(*(cell[axis] for axis in AXES), cell["end"], f"{cell.get('took_s', 0)} s", flush=True)

    left = [cell for cell in asked if key(cell) not in there]
    for (_, ranks), group in groupby(left, lambda cell: (cell["variant"], cell["ranks"])):
        together = list(group)
        for cell in [cell for cell in together if too_long_before(cell, found)]:
            keep(cell | {"end": LEFT_OUT})
            together.remove(cell)
        with ThreadPoolExecutor(max(1, cpus // int(ranks))) as side_by_side:
            for done in as_completed([side_by_side.submit(launched, cell, limit_s) for cell in together]):
                keep(done.result())


def table(found: Sequence[Cell]) -> list[str]:
    """A row a kernel and mode, a column a number of ranks: how many MPIs and variants verified their result; below it
    what was not, by name."""
    ranks = sorted({cell["ranks"] for cell in found})
    rows = []
    for kernel, mode in dict.fromkeys((cell["kernel"], cell["mode"]) for cell in found):
        mine = [cell for cell in found if (cell["kernel"], cell["mode"]) == (kernel, mode)]
        texts = [_text(Counter(_word(cell) for cell in mine if cell["ranks"] == number)) for number in ranks]
        rows.append([kernel.upper(), mode, *texts])
    lines = markdown(["kernel", "mode", *(f"{n} rank{'s' * (n > 1)}" for n in ranks)], rows)
    return [*lines, "", *_names(found)]


def _names(found: Sequence[Cell]) -> list[str]:
    """What was not verified: a line for each kernel, mode and number of ranks."""
    limits = {cell["limit_s"] for cell in found if cell["end"] == TOO_LONG}
    longer = f"longer than {' or '.join(f'{limit:g}' for limit in sorted(limits))} s"
    titles = {TOO_LONG: longer, LEFT_OUT: "left out after that", FAILED: FAILED}
    lines = []
    for word, title in titles.items():
        those = [cell for cell in found if _word(cell) == word]
        for kernel, mode, ranks in dict.fromkeys((cell["kernel"], cell["mode"], cell["ranks"]) for cell in those):
            where = [f"{cell['mpi']} {cell['variant']}" for cell in those
                     if (cell["kernel"], cell["mode"], cell["ranks"]) == (kernel, mode, ranks)]  # fmt: skip
            lines.append(f"- {title}: {kernel.upper()}, {mode}, ranks {ranks}: {', '.join(where)}")
    return lines


def _word(cell: Mapping[str, Any]) -> str:
    return FAILED if cell["end"].startswith(FAILED) else str(cell["end"])


def _text(counted: Counter[str]) -> str:
    others = [f"{counted[word]} {word}" for word in (TOO_LONG, LEFT_OUT, FAILED) if counted[word]]
    return ", ".join([f"{counted[VERIFIED]} of {counted.total()} verified", *others]) if counted else "–"


def _facts() -> Cell:
    """Where and of what this is."""
    return {"commit": git.ask(ROOT, "rev-parse", "--short", "HEAD").out.strip(), "cpu": machine.facts()["cpu_model"]}


def _chosen(text: str, known: Sequence[str]) -> list[str]:
    chosen = text.split(",")
    if unknown := sorted(set(chosen) - set(known)):
        raise argparse.ArgumentTypeError(f"{', '.join(unknown)}: {', '.join(known)} are known")
    return chosen


def main(arguments: list[str]) -> int:
    """Status 1 where one failed."""
    parser = argparse.ArgumentParser(description="NPB's kernels on each MPI under each variant, verified or not.")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="a line a launch; what is there stays")
    parser.add_argument("--class", dest="name", metavar="CLASS", help="of all kernels; without it nothing is launched")
    parser.add_argument("--ranks", default="1,2,4", metavar="N,...")
    for name, known in ALL.items():
        parser.add_argument(
            f"--{name}",
            type=lambda text, known=known: _chosen(text, known),  # type: ignore[misc]
            default=list(known),
            metavar="NAME,...",
            help=f"all: {','.join(known)}",
        )
    parser.add_argument("--limit", type=float, default=300.0, metavar="S", help="seconds a launch")
    asked = parser.parse_args(arguments)
    found = [json.loads(line) for line in asked.out.read_text().splitlines()] if asked.out.exists() else []
    if asked.name:
        ranks = [int(number) for number in asked.ranks.split(",")]
        wanted = list(cells(asked.name, asked.variants, ranks, asked.kernels, asked.mpis))
        run(wanted, found, asked.out, asked.limit, len(os.sched_getaffinity(0)), _facts())
    print("\n".join(table(found)))
    return 1 if any(_word(cell) == FAILED for cell in found) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
