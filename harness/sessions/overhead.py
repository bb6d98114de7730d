# SPDX-License-Identifier: BSD-3-Clause
"""The time of a launch that is not the workload's: the launcher, the processes' start, MPI_Init and the end."""

from __future__ import annotations

import json
import statistics
from pathlib import Path


def by_mpi(folder: Path) -> dict[str, list[float]]:
    """MPI -> launch_s - elapsed_s, seconds, of each launch in the record files of `folder` that ended well."""
    found: dict[str, list[float]] = {}
    for path in sorted(folder.glob("*.jsonl")):
        try:
            first, *_, last = path.read_text(errors="replace").splitlines()
            mpi, end = json.loads(first)["header"]["context"]["mpi"], json.loads(last)["end"]
            if end["status"] == "ok":
                found.setdefault(mpi, []).append(end["launch_s"] - end["elapsed_s"])
        except (ValueError, KeyError, TypeError):
            continue
    return found


def sentence(folder: Path) -> str:
    """The medians in words; empty where no launch ended well."""
    medians = [f"{mpi} {statistics.median(values):.2f} s" for mpi, values in by_mpi(folder).items()]
    return f"outside of the workload, a launch took (median): {', '.join(medians)}" if medians else ""
