# SPDX-License-Identifier: BSD-3-Clause
"""How long a session of thousands of ranks takes to load, summarise and draw, and how that grows with the ranks.

    .venv/bin/python -m analysis.benchmarks.ranks [--ranks 4096] [--doublings 3]

Writes sessions of bare and adaptive, 6 launches of each, one file a launch whatever the ranks, and measures each in a
process of its own, from JSON Lines. A step whose CPU time is four times as long for twice the ranks is quadratic.
"""

from __future__ import annotations

import argparse
import itertools
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

STEPS = ("load", "summarise", "draw")


def make(folder: Path, ranks: int) -> Path:
    """A session of so many ranks, a node each."""
    from analysis.benchmarks.synthetic import USUAL, Synthetic  # noqa: PLC0415

    variants = {name: USUAL[name] for name in ("bare", "adaptive")}
    return Synthetic(mpis={"mpich": variants}, comp_over_comm=(1.0,), samples=3, ranks=ranks).write(folder)


def measure(session: Path) -> dict[str, float]:
    """CPU seconds of each step in this process, the wall time of all, and its bytes at most."""
    from analysis.catalogue import draw_all  # noqa: PLC0415
    from analysis.evidence import Evidence  # noqa: PLC0415
    from analysis.figures import toolkit  # noqa: PLC0415
    from analysis.records.load import load  # noqa: PLC0415

    begin = time.perf_counter()
    times = [time.process_time()]
    records = load([session], use_cache=False)
    times.append(time.process_time())
    evidence = Evidence(records)
    said = len(evidence.metrics) + len(records.cautions())
    times.append(time.process_time())
    drawn = draw_all(evidence, toolkit.provenance(records))
    times.append(time.process_time())
    if not said or not drawn:
        raise SystemExit(f"{session}: nothing was summarised, or nothing drawn")
    each = dict(zip(STEPS, (end - begin for begin, end in itertools.pairwise(times)), strict=True))
    return each | {
        "all": time.perf_counter() - begin,
        "bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0,
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
        rest = f"all {found['all']:.1f} s by the clock, {found['bytes'] / 1e9:.2f} GB"
        print(f"{ranks} ranks: CPU {', '.join(words)}; {rest}", flush=True)
        before = found
    return 0


if __name__ == "__main__":
    sys.exit(main())
