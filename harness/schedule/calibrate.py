# SPDX-License-Identifier: BSD-3-Clause
"""From intentions to fixed work: how much work makes comp = comm, or a computation of so many seconds.

Calibrated once a job, bare, before the schedule starts: on a cluster two jobs may get different nodes. Every launch
of the job then does exactly the same work, and the analysis takes comm and comp from the schedule's own bare launches
(metrics.md), so an unlucky calibration moves a point along its axis but cannot flatter a variant.
"""

from __future__ import annotations

import json
import statistics
from dataclasses import asdict, dataclass
from pathlib import Path

from harness.schedule.plan import Point
from harness.schedule.records import RecordFile


@dataclass(frozen=True)
class Calibration:
    """`unit_s`: seconds of one unit of work on the slowest rank; `comm_s`: message size -> bare communication time.

    Both are medians: the fastest repetition of a unit is not what a computation of a second sees.
    """

    unit_s: float
    comm_s: dict[int, float]

    def with_work(self, point: Point) -> Point:
        """`point` with the work_units that its intention means."""
        if "comp_over_comm" in point:
            seconds = point["comp_over_comm"] * self.comm_s[point["size_bytes"]]
        elif "comp_s" in point:
            seconds = point["comp_s"]
        else:
            return point
        return point | {"work_units": round(seconds / self.unit_s)}

    def save(self, path: Path) -> None:
        partial = path.with_name(path.name + ".part")
        partial.write_text(json.dumps(asdict(self), indent=1) + "\n")
        partial.replace(path)

    @staticmethod
    def load(path: Path) -> Calibration | None:
        try:
            data = json.loads(path.read_text())
            return Calibration(data["unit_s"], {int(size): comm for size, comm in data["comm_s"].items()})
        except (OSError, ValueError, KeyError):
            return None


def wanted(points: list[Point]) -> bool:
    """Whether any point states an intention that needs calibration."""
    return any("comp_over_comm" in point or "comp_s" in point for point in points)


def sizes(points: list[Point]) -> list[int]:
    """The message sizes whose bare communication time is needed."""
    return sorted({point["size_bytes"] for point in points if "comp_over_comm" in point})


def from_record(record: RecordFile) -> Calibration:
    """The calibration that a `--calibrate` launch measured; KeyError or ValueError if its record lacks a part."""
    units: dict[int, float] = {}
    comm: dict[int, float] = {}
    for line in record.points:
        samples: dict[str, list[float]] = line["samples"]
        if line["point"].get("calibration") == "unit":
            units[line["rank"]] = statistics.median(samples["unit_s"])
        elif line["rank"] == 0:
            # the acknowledgement that closes a transfer is not part of it (metrics.md)
            comm[line["point"]["size_bytes"]] = statistics.median(samples["comm_s"]) - statistics.median(
                samples["ack_s"]
            )
    return Calibration(max(units.values()), comm)


def options(points: list[Point]) -> list[str]:
    """The workload's options that measure what these points need."""
    wanted_sizes = [str(size) for size in sizes(points)]
    return ["--calibrate", *(["--size", ",".join(wanted_sizes)] if wanted_sizes else [])]
