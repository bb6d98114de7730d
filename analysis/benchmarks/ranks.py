# SPDX-License-Identifier: BSD-3-Clause
"""How long a session of thousands of ranks takes to load, summarise and draw, and how that grows with the ranks.

    .venv/bin/python -m analysis.benchmarks.ranks [--ranks 4096] [--doublings 3]

The sessions are spread from the kept one of `./bench demo`: MPICH's launches of bare and adaptive, six of each, at
4 MiB. Each rank has the records of one of the two that were measured, on a node of its own; a launch stays one file
whatever the ranks. Each session is measured in a process of its own, from JSON Lines. A step whose CPU time is four
times as long for twice the ranks is quadratic.
"""

from __future__ import annotations

import argparse
import itertools
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

KEPT = Path(__file__).resolve().parents[2] / "results" / "reference" / "demo"
RECORDS = ("mpich.*.bare", "mpich.*.adaptive")
SIZE_BYTES = 4 << 20
STEPS = ("load", "summarise", "draw", "write")


def make(folder: Path, ranks: int) -> Path:
    """A session of so many ranks, half of them senders. `folder` is made, and returned."""
    (folder / "records").mkdir(parents=True)
    (folder / "nodes").mkdir()
    for file in sorted(one for pattern in RECORDS for one in (KEPT / "records").glob(f"*.{pattern}.jsonl")):
        with (folder / "records" / file.name).open("w") as stream:
            for line in map(json.loads, file.read_text().splitlines()):
                stream.writelines(json.dumps(each) + "\n" for each in _spread(line, ranks))
    described = [json.loads(file.read_text()) for file in sorted((KEPT / "nodes").iterdir())]
    for rank in range(ranks):
        facts = described[_measured(rank, ranks)] | {"host": _host(rank)}
        (folder / "nodes" / f"{_host(rank)}.json").write_text(json.dumps(facts))
    shutil.copy(KEPT / "session.json", folder)
    facts = json.loads((folder / "session.json").read_text())
    (folder / "session.json").write_text(json.dumps(facts | {"session": folder.name, "expected": []}))
    return folder


def _host(rank: int) -> str:
    return f"node-{rank:04d}"


def _measured(rank: int, ranks: int) -> int:
    """Whose record a rank has: the sender's, or the receiver's."""
    return int(2 * rank >= ranks)


def _spread(line: dict[str, Any], ranks: int) -> list[dict[str, Any]]:
    """The lines of all ranks in the place of one of two ranks' session."""
    for part in ("header", "end"):
        if part in line:
            of_two = line[part]["ranks"]
            of_all = [of_two[_measured(rank, ranks)] | {"rank": rank} for rank in range(ranks)]
            if part == "header":
                of_all = [one | {"host": _host(one["rank"])} for one in of_all]
            return [{part: line[part] | {"ranks": of_all} | ({"world_size": ranks} if part == "header" else {})}]
    if line["point"]["size_bytes"] != SIZE_BYTES:
        return []
    return [line | {"rank": rank} for rank in range(ranks) if _measured(rank, ranks) == line["rank"]]


def measure(session: Path) -> dict[str, float]:
    """CPU seconds of each step in this process, the wall time of all, and its bytes at most."""
    from analysis.catalogue import draw_all  # noqa: PLC0415
    from analysis.evidence import Evidence  # noqa: PLC0415
    from analysis.figures import toolkit  # noqa: PLC0415
    from analysis.records.load import load  # noqa: PLC0415
    from analysis.report.report import render  # noqa: PLC0415
    from analysis.report.verdict import verdict  # noqa: PLC0415

    begin = time.perf_counter()
    times = [time.process_time()]
    records = load([session])
    times.append(time.process_time())
    evidence = Evidence(records)
    said = verdict(evidence.metrics)
    said.limits += records.cautions()
    times.append(time.process_time())
    drawn = draw_all(evidence, toolkit.provenance(records))
    times.append(time.process_time())
    page = render(evidence, said, drawn, session)
    files = [toolkit.save(figure, session / "figures") for figure in drawn]
    times.append(time.process_time())
    if records.problems or not files:
        raise SystemExit(f"{session}: nothing was drawn, or there are problems: {records.problems[:1]}")
    each = dict(zip(STEPS, (end - begin for begin, end in itertools.pairwise(times)), strict=True))
    return each | {
        "all": time.perf_counter() - begin,
        "bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0,
        "records": float(sum(file.stat().st_size for file in (session / "records").iterdir())),
        "page": float(len(page)),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, default=4096)
    parser.add_argument("--doublings", type=int, default=3)
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(measure(arguments.measure)))
        return 0
    before: dict[str, float] = {}
    for ranks in (arguments.ranks >> shift for shift in range(arguments.doublings, -1, -1)):
        with tempfile.TemporaryDirectory(prefix="overlap-bench-") as temporary:
            session = make(Path(temporary) / "session", ranks)
            command = [sys.executable, "-m", "analysis.benchmarks.ranks", "--measure", str(session)]
            found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        words = [
            f"{step} {found[step]:.2f} s" + (f" (x {found[step] / before[step]:.2f})" if before else "")
            for step in STEPS
        ]
        cpu = sum(found[step] for step in STEPS)
        print(
            f"{ranks} ranks, {found['records'] / 1e6:.0f} MB of records: CPU {', '.join(words)}, in all {cpu:.1f} s; "
            f"{found['all']:.1f} s by the clock, {found['bytes'] / 1e9:.2f} GB, a page of {found['page'] / 1e3:.0f} kB",
            flush=True,
        )
        before = found
    return 0


if __name__ == "__main__":
    sys.exit(main())
