# SPDX-License-Identifier: BSD-3-Clause
"""From intentions to fixed work: how much work makes comp = comm, or a computation of so many seconds.

Calibrated once a session for each study and system, bare, by the first job that needs it, in several launches of which
the medians count: a launch differs from the next by some per cent. The jobs of the other MPIs take what it published.
Every launch of a point then does exactly the same work, whatever its MPI and variant, so their times can be held
against each other: a slow moment during the calibration moves a point along its axis for all of them alike and can
favour none. The analysis takes comm and comp from each MPI's own bare launches. So comp = comm is exact
for the calibrating MPI alone, and what the ratio was on each is stated with every point.

The middle of the calibrations of all MPIs would be no fairer, the work is the same for all either way; and it would
need a job of each MPI before the first launch, on a cluster a second wait in the queue for each.
"""

from __future__ import annotations

import json
import os
import statistics
from dataclasses import asdict, dataclass
from pathlib import Path

from harness.job import records
from harness.job.plan import INTENTIONS, Point
from harness.job.records import RecordFile

SLEPT_UNIT_S = 1e-6  # of workloads/common/fixed_work.h


@dataclass(frozen=True)
class Calibration:
    """`unit_s`: seconds of one unit of work on the slowest rank; `comm_s`: what is sent (`sent`) -> its time alone.

    Both are medians: the fastest repetition of a unit is not what a computation of a second sees. `mpi`: measured on
    which one; empty in the file of a session in which each MPI was calibrated by itself.
    """

    unit_s: float
    comm_s: dict[str, float]
    mpi: str = ""

    def with_work(self, point: Point, reference: Point | None = None) -> Point:
        """`point` with the work_units that its intention means, by the communication of `reference`, see Plan."""
        if "comp_over_comm" in point:
            alone = self.comm_s.get(sent(reference or point))
            seconds = point["comp_over_comm"] * (self.comm_s[str(point["size_bytes"])] if alone is None else alone)
        elif "comp_s" in point:
            seconds = point["comp_s"]
        else:
            return point
        return point | {
            "work_units": round(seconds / (SLEPT_UNIT_S if point.get("compute") == "sleep" else self.unit_s))
        }

    @staticmethod
    def middle(of: list[Calibration]) -> Calibration:
        """The medians of several, which are of the same MPI and points."""
        comm_s = {what: statistics.median(one.comm_s[what] for one in of) for what in of[0].comm_s}
        return Calibration(statistics.median(one.unit_s for one in of), comm_s, of[0].mpi)

    def publish(self, path: Path) -> Calibration:
        """Put this at `path` unless another job has been faster; the one that is there, for all jobs alike.

        Safe between processes and hosts: a link is made whole or not at all. Raises OSError.
        """
        partial = path.with_name(f"{path.name}.{self.mpi}.part")
        partial.write_text(json.dumps(asdict(self), indent=1) + "\n")
        try:
            os.link(partial, path)
        except FileExistsError:
            if first := Calibration.load(path):
                return first
            partial.replace(path)  # damaged: nobody can have taken it
        finally:
            partial.unlink(missing_ok=True)
        return self

    @staticmethod
    def load(path: Path) -> Calibration | None:
        """What is at `path`; None if there is nothing, or nothing whole."""
        try:
            data = json.loads(path.read_text())
            return Calibration(data["unit_s"], dict(data["comm_s"]), data.get("mpi", ""))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None


def wanted(points: list[Point]) -> bool:
    """Whether any point states an intention that needs calibration."""
    return any(name in point for point in points for name in INTENTIONS)


def sent(point: Point) -> str:
    """A point without its computation: what its communication alone depends on."""
    return records.key({name: value for name, value in point.items() if name not in INTENTIONS})


def alone(points: list[Point]) -> list[Point]:
    """Points of communication alone, for a workload that does not send one message between two ranks."""
    unique = {sent(point): point for point in points if "comp_over_comm" in point}
    return [
        {name: value for name, value in point.items() if name not in INTENTIONS} | {"work_units": 0}
        for point in unique.values()
    ]


def sizes(points: list[Point]) -> list[int]:
    """The message sizes whose bare communication time is needed."""
    return sorted({point["size_bytes"] for point in points if "comp_over_comm" in point})


def turns(record: RecordFile, cpus_shared: bool) -> float:
    """How many ranks take turns on a CPU, at most: a unit is measured in CPU time, of which each then has its share.

    `cpus_shared`: a CPU's number means the same CPU on all hosts.
    """
    ranks = (record.header or {}).get("ranks", [])
    places = [
        frozenset(("" if cpus_shared else rank["host"], cpu) for cpu in rank["cpus_allowed"])
        for rank in ranks
        if rank["cpus_allowed"]
    ]
    return max([1.0, *(places.count(place) / len(place) for place in places)])


def from_record(record: RecordFile, mpi: str, turns: float = 1.0) -> Calibration:
    """The calibration that a `--calibrate` launch measured; KeyError or ValueError if its record lacks a part."""
    units: dict[int, float] = {}
    comm: dict[str, list[float]] = {}
    for line in record.points:
        samples: dict[str, list[float]] = line["samples"]
        point = line["point"]
        if point.get("calibration") == "unit":
            units[line["rank"]] = statistics.median(samples["unit_s"])
        elif "calibration" not in point:
            comm.setdefault(sent(point), []).append(_time_alone(samples))
        elif line["rank"] == 0:
            comm[str(point["size_bytes"])] = [_time_alone(samples)]
    return Calibration(turns * max(units.values()), {what: max(times) for what, times in comm.items()}, mpi)


def _time_alone(samples: dict[str, list[float]]) -> float:
    """The acknowledgement that closes a transfer is not part of it, where the machine was quiet enough to tell both:
    on a busy one its median can be the longer one, and there is no work of less than no time."""
    whole = statistics.median(samples["comm_s"])
    transfer = whole - statistics.median(samples.get("ack_s", [0.0]))
    return transfer if transfer > 0 else whole


def options(points: list[Point], points_file: Path | None) -> list[str]:
    """The workload's options that measure what these points need: messages by size, or the points of this file."""
    if points_file is not None:
        points_file.write_text(json.dumps(alone(points)))
        return ["--calibrate", f"--points={points_file}"]
    wanted_sizes = [str(size) for size in sizes(points)]
    return ["--calibrate", *(["--size", ",".join(wanted_sizes)] if wanted_sizes else [])]
