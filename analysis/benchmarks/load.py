# SPDX-License-Identifier: BSD-3-Clause
"""How long it takes to load and summarise ten million samples, and how much memory: the budget is 10 s and 2 GB.

    .venv/bin/python -m analysis.benchmarks.load [--samples 10000000] [--folder DIR]

Writes a session of that many samples (kept in DIR if given, made once), then loads and summarises it twice, each time
in a process of its own: without and with the Parquet cache. Ends with status 1 where the budget is exceeded.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BUDGET_S, BUDGET_BYTES = 10.0, 2e9


def make(folder: Path, samples: int) -> None:
    """A session of 60 launches with 8 quantities and 2 ranks, `samples` in all."""
    from analysis.benchmarks.synthetic import Synthetic  # noqa: PLC0415

    points = (0.25, 0.5, 1.0, 2.0, 4.0)
    launches = 10
    each = max(1, round(samples / (launches * 6 * len(points) * 2 * 8)))
    Synthetic(launches=launches, samples=each, comp_over_comm=points).write(folder)


def measure(folder: Path) -> dict[str, float]:
    """Loads and summarises `folder` in this process; seconds, bytes, rows."""
    start = time.perf_counter()
    from analysis.records.load import load  # noqa: PLC0415
    from analysis.records.series import summarise  # noqa: PLC0415

    records = load([folder])
    loaded = time.perf_counter()
    rows = len(records.samples)
    summary = summarise(records)
    end = time.perf_counter()
    return {
        "samples": rows,
        "series": len(summary),
        "load_s": loaded - start,
        "summarise_s": end - loaded,
        "total_s": end - start,
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=10_000_000)
    parser.add_argument("--folder", type=Path, help="keep the session here")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(measure(arguments.measure)))
        return 0
    folder = arguments.folder or Path(tempfile.mkdtemp(prefix="overlap-bench-"))
    try:
        if not (folder / "session" / "records").is_dir():
            make(folder / "session", arguments.samples)
        return _report(folder / "session")
    finally:
        if not arguments.folder:
            shutil.rmtree(folder)


def _report(session: Path) -> int:
    shutil.rmtree(session / "records" / ".cache", ignore_errors=True)
    within = True
    for words in ("first time, from JSON Lines, cache written", "second time, from the cache"):
        command = [sys.executable, "-m", "analysis.benchmarks.load", "--measure", str(session)]
        found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        within &= found["total_s"] <= BUDGET_S and found["peak_bytes"] <= BUDGET_BYTES
        print(
            f"{words}: {found['samples'] / 1e6:.1f} million samples in {found['total_s']:.2f} s "
            f"(load {found['load_s']:.2f}, summarise {found['summarise_s']:.2f}), {found['peak_bytes'] / 1e9:.2f} GB"
        )
    print("within the budget" if within else f"over the budget of {BUDGET_S:g} s and {BUDGET_BYTES / 1e9:g} GB")
    return 0 if within else 1


if __name__ == "__main__":
    sys.exit(main())
