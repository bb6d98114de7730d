# SPDX-License-Identifier: BSD-3-Clause
"""Which points a model is fitted to, and which others it is held against: two tables without a point in common."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from harness.base.mpis import WHEEL_MPIS
from harness.sites.systems import Request, System
from reframe_checks.catalogue import Point, by_names

SCALE = "quick"
MIB = 1 << 20
ASLEEP = {"compute": "sleep"}  # more ranks than cores: what they compute is slept


@dataclass(frozen=True)
class Part:
    """What one session measures: these studies on so many nodes, a rank each. `variants` empty: the studies' own."""

    studies: tuple[str, ...]
    nodes: int
    settings: Mapping[str, str] = field(default_factory=dict)
    variants: tuple[str, ...] = ()

    def request(self, system: System, more: Mapping[str, str]) -> Request:
        """`more`: settings of the call, as launches=1."""
        return Request.of(
            studies=by_names(list(self.studies)),
            system=system,
            mpis=list(WHEEL_MPIS),
            variants=list(self.variants),
            scale=SCALE,
            settings=dict(self.settings) | dict(more),
            nodes=self.nodes,
        )

    def points(self) -> Iterator[tuple[tuple[str, ...], int, Point]]:
        """Every point as what it is on the wire: the program, the ranks, the parameters but the computation's."""
        for study in by_names(list(self.studies)):
            for point in study.scale(SCALE, self.settings).points():
                yield study.workload, study.tasks(self.nodes), without_computation(point)


def without_computation(point: Point) -> Point:
    return {name: value for name, value in point.items() if name not in ("comp_over_comm", "comp_s", "compute")}


EQUAL = {"comp_over_comm": "1", "launches": "4", "max_samples": "3"}
_CUBE = {"nx": "48", "ny": "48", "nz": "48", "launches": "4", "max_samples": "3"}
FIT = (
    Part(
        ("overlap-ratio",),
        2,
        EQUAL | {"pattern": "both", "size_bytes": f"65536,{MIB},{4 * MIB},{16 * MIB}"},
        ("bare", "mpi-async", "timer", "idle", "adaptive"),
    ),
    # up to which length nobody is asked before a message is sent
    Part(
        ("overlap-ratio",),
        2,
        EQUAL | {"pattern": "both", "size_bytes": f"{MIB // 8},{MIB // 2},{3 * MIB // 2},{3 * MIB}"},
        ("bare",),
    ),
    Part(("collective-overlap",), 2, EQUAL | {"size_bytes": f"{4 * MIB}"}, ("bare", "adaptive")),
    # what the applications compute: one rank copies nothing
    Part(("fft",), 1, _CUBE | {"mode": "blocking"}, ("bare",)),
    Part(("fft",), 2, _CUBE | {"mode": "blocking"}, ("bare",)),
    Part(("minife-packets",), 2, _CUBE | {"mode": "blocking", "barrier": "false", "packets": "false"}, ("bare",)),
)
_SLEEPING = ("validation-overlap", "validation-collectives", "validation-halo")
VALIDATION = (Part(("validation",), 2), Part(_SLEEPING, 4, ASLEEP), Part(_SLEEPING, 8, ASLEEP))
