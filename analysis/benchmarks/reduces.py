# SPDX-License-Identifier: BSD-3-Clause
"""Where a nonblocking reduction's time goes on each rank, from a trace of its calls (results/reference/ireduce-trace).

    python -m analysis.benchmarks.reduces results/reference/ireduce-trace

A trace is NAME.rank-R.txt, a line a call: 1 MPI_Ireduce, 2 a wait, 4 MPI_Barrier; its begin and its end in seconds.
Each MPI_Ireduce belongs to the wait behind it. Between the two its rank computes, or (less than 1 ms) does not. The
table has medians in ms, without a computation and with one; of the latter those in which the rank is the root, and the
others: the root sends little when it posts, which takes it less than half a millisecond of a megabyte's 8 ms.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis.text_table import markdown

IREDUCE, WAIT = 1, 2
COMPUTES_S, ROOT_POSTS_S = 1e-3, 0.5e-3


@dataclass(frozen=True)
class Reduction:
    """Seconds: in MPI_Ireduce, between it and the wait, in the wait."""

    post: float
    computed: float
    wait: float

    @property
    def kind(self) -> str:
        if self.computed < COMPUTES_S:
            return "alone"
        return "computing, root" if self.post < ROOT_POSTS_S else "computing, other"


def reductions(path: Path) -> list[Reduction]:
    """Those of one rank, in their order."""
    found, posted = [], None
    for line in path.read_text().splitlines():
        call, begin, end = (float(word) for word in line.split())
        if call == IREDUCE:
            posted = (begin, end)
        elif call == WAIT and posted:
            found.append(Reduction(posted[1] - posted[0], begin - posted[1], end - begin))
            posted = None
    return found


def table(folder: Path) -> list[list[str]]:
    rows = []
    for path in sorted(folder.glob("*.rank-*.txt")):
        program, _, rank = path.stem.partition(".rank-")
        each = reductions(path)
        for kind in ("alone", "computing, root", "computing, other"):
            these = [one for one in each if one.kind == kind]
            if these:
                parts = [[one.post for one in these], [one.computed for one in these], [one.wait for one in these]]
                whole = [sum(times) for times in zip(*parts, strict=True)]
                medians = [f"{1e3 * statistics.median(times):.2f}" for times in (*parts, whole)]
                rows.append([program, rank, kind, str(len(these)), *medians])
    return rows


def main(arguments: Sequence[str]) -> int:
    try:
        rows = table(Path(arguments[0])) if len(arguments) == 1 else []
    except ValueError as error:
        print(f"reduces: a line of a trace is a call's number, its begin and its end: {error}", file=sys.stderr)
        return 2
    if not rows:
        print("reduces: the folder of a trace is wanted: NAME.rank-R.txt", file=sys.stderr)
        return 2
    heads = ["program", "rank", "", "calls", "post", "computed", "wait", "whole"]
    print("\n".join(markdown(heads, rows)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
