# SPDX-License-Identifier: BSD-3-Clause
"""The plan of one job: which launches, in which order, with which points. JSON between the check and the runner.

The unit is system x MPI x study. Variants alternate (metrics.md): each round runs every variant once, in an order
drawn anew from the plan's seed, so that no variant always follows the same other one.
"""

from __future__ import annotations

import json
import random
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

Point = dict[str, Any]

# Before anything is known of a network: the time of a message is taken as that of 1 Gb/s.
ASSUMED_BYTES_PER_S = 125e6
LAUNCH_OVERHEAD_S = 1.0
# A launch may take this many times its estimate, plus the grace: the slowest variants are twice as slow as bare.
TIMEOUT_FACTOR, TIMEOUT_GRACE_S = 6.0, 45.0


@dataclass(frozen=True)
class Launch:
    """One run of the workload under one variant. `identity` names its record file."""

    identity: str
    variant: str
    repetition: int
    order: int


@dataclass(frozen=True)
class Sampler:
    min_samples: int
    max_samples: int
    warmup: int
    time_box_s: float

    def options(self) -> list[str]:
        return [
            f"--{name.replace('_', '-')}={value:g}"
            if isinstance(value, float)
            else f"--{name.replace('_', '-')}={value}"
            for name, value in asdict(self).items()
        ]


@dataclass(frozen=True)
class Site:
    """What the job has to know of the system it runs on, copied from the system file's partition and environment."""

    system: str  # ReFrame's system:partition
    mpi: str
    library: str  # a word that MPI_Get_library_version must contain
    launch_command: list[str]  # the launcher with its options, up to the program
    tasks: int
    nodes: int
    progress_run: str
    async_progress: dict[str, str] = field(default_factory=dict)
    network: str = ""
    cpus_shared: bool = False  # the nodes are namespaces on one kernel: a CPU number means the same CPU on all
    cpus_too_few: str = ""  # why several ranks must share a CPU here; empty: sharing one is an error
    check_interfaces: bool = True  # the bytes of the messages must be seen on the nodes' interfaces
    sweep: list[str] = field(default_factory=list)  # kills what a dead launch left on its nodes
    spack: dict[str, Any] = field(default_factory=dict)  # what was built from, if Spack built it: specs and lock
    exports: list[str] = field(default_factory=list)  # environment variables that the launcher must be told to pass on


@dataclass(frozen=True)
class Plan:
    """One job. `workload` is the executable and its fixed arguments; `points` carry intentions, not work_units."""

    session: str
    study: str
    scale: str
    seed: int
    workload: list[str]
    points: list[Point]
    sampler: Sampler
    launches: list[Launch]
    site: Site
    test_case: str = ""
    given_timeout_s: float = 0.0  # of a launch; 0: by its estimate

    def save(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self), indent=1) + "\n")

    @staticmethod
    def load(path: Path) -> Plan:
        data = json.loads(path.read_text())
        data["sampler"] = Sampler(**data["sampler"])
        data["site"] = Site(**data["site"])
        data["launches"] = [Launch(**launch) for launch in data["launches"]]
        return Plan(**data)

    def launch_estimate_s(self) -> float:
        """About how long one launch takes."""
        return LAUNCH_OVERHEAD_S + sum(point_estimate_s(point, self.sampler) for point in self.points)

    def estimate_s(self) -> float:
        """About how long the job takes, its calibration (about one launch) included."""
        return self.launch_estimate_s() * (1 + len(self.launches))

    def timeout_s(self) -> float:
        """When a launch is given up: it hangs."""
        return self.given_timeout_s or TIMEOUT_GRACE_S + TIMEOUT_FACTOR * self.launch_estimate_s()


def point_estimate_s(point: Point, sampler: Sampler) -> float:
    """About how long a point takes: communication, computation and both one after the other, for each repetition."""
    comm = 2e-4 + point.get("size_bytes", 0) / ASSUMED_BYTES_PER_S
    comp = point.get("comp_s", comm * point.get("comp_over_comm", 0))
    repetition = 2 * (comm + comp)
    # the time box holds the warm-up, too, and lets one repetition of each happen whatever it is
    longest = max(sampler.time_box_s, 2 * repetition)
    return float(min(longest, (sampler.warmup + sampler.max_samples) * repetition))


def interleave(stem: str, variants: list[str], launches: int, seed: int) -> list[Launch]:
    """`launches` rounds over `variants`, the order within each round shuffled by `seed`."""
    shuffler = random.Random(f"{stem} {seed}")
    schedule: list[Launch] = []
    for repetition in range(launches):
        for variant in shuffler.sample(variants, len(variants)):
            order = len(schedule)
            identity = f"{stem}.{order:03d}.{variant.replace(':', '+')}"
            schedule.append(Launch(identity, variant, repetition, order))
    return schedule
