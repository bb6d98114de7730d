# SPDX-License-Identifier: BSD-3-Clause
"""Real sessions of one program, kept as the medians of their launches: what `compare` must not be alarmed by.

    .venv/bin/python -m analysis.tests.aa SESSION... > analysis/tests/data/aa_sessions.csv

Rows in order of time: session, slowdown that was injected, variant, comp/comm, and total_s of every launch, in seconds.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from analysis.compare.pairs import Key, Measured, measured
from analysis.load import load

FILE = Path(__file__).parent / "data" / "aa_sessions.csv"
Session = tuple[float, dict[Key, Measured]]  # slowdown, points


def read(file: Path = FILE) -> list[Session]:
    """The sessions in order of time."""
    found: dict[str, Session] = {}
    with file.open() as lines:
        for row in csv.reader(line for line in lines if not line.startswith("#")):
            name, slowdown, variant, ratio, work, *medians = row
            _, points = found.setdefault(name, (float(slowdown), {}))
            launches = {str(i): np.array([float(value)]) for i, value in enumerate(medians)}
            key = ("overlap-ratio", "vcluster", "mpich", variant, json.dumps({"comp_over_comm": float(ratio)}))
            points[key] = Measured("total_s", launches, float(work))
    return list(found.values())


def write(sessions: Sequence[Path]) -> None:
    """Prints the file: first where it comes from."""
    loaded = [load([path]) for path in sorted(sessions)]
    facts = [records.sessions[0] for records in loaded]
    print(f"# {' '.join(['./bench', *facts[0]['command']])}")
    print("# then the same again, eleven times with --like, in two of them with --inject-slowdown as in the 2nd column")
    print(
        f"# {facts[0]['machine']['cpu_model']}, {facts[0]['machine']['cores']} cores, virtual machine, nothing else ran"
    )
    print(f"# {facts[0]['machine']['distribution']}, kernel {facts[0]['machine']['kernel']}; {facts[0]['network']}")
    print(f"# {facts[0]['mpis']['mpich']['version']}; {facts[0]['created']} to {facts[-1]['finished']}")
    print(f"# commit {facts[0]['git']['commit']}")
    print("# session, slowdown of all computation, variant, comp/comm, work units, median total of each launch (s)")
    for records, session in zip(loaded, facts, strict=True):
        for (_, _, _, variant, point), entry in measured(records).items():
            ratio = json.loads(point)["comp_over_comm"]
            medians = ",".join(f"{value:.6f}" for value in entry.medians)
            print(f"{session['session']},{_slowdown(session)},{variant},{ratio:g},{entry.work:g},{medians}")


def _slowdown(session: dict[str, Any]) -> float:
    command = session["command"]
    return float(command[command.index("--inject-slowdown") + 1]) if "--inject-slowdown" in command else 1.0


if __name__ == "__main__":
    write([Path(name) for name in sys.argv[1:]])
