# SPDX-License-Identifier: BSD-3-Clause
"""What a recorded quantity is: its unit, which way is better, whether the workload is about it.

The headers of records say so from version 2 of the schema on; BEFORE says it of what they do not declare.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

# Of two times, and negative where chance has it.
DIFFERENCES = frozenset({"excess_latency_s", "overhead_s", "remainder_s"})
SIGNS = {"lower": 1, "higher": -1, "neither": 0}


@dataclass(frozen=True)
class Quantity:
    """`better` is lower, higher or neither; of a workload's quantities one is `leading`: what it is about."""

    unit: str
    better: str
    leading: bool = False

    @property
    def sign(self) -> int:
        """1 where less is better, -1 where more is, 0 where neither is."""
        return SIGNS[self.better]


TIME = Quantity("s", "lower")
BEFORE = {
    "total_s": TIME,
    "elapsed_s": TIME,
    "latency_s": TIME,
    "mean_latency_s": TIME,
    "task_s": TIME,
    "overhead_s": TIME,
    "mflops": Quantity("MFLOP/s", "higher"),
    "bandwidth_bytes_per_s": Quantity("B/s", "higher"),
    "bytes_per_s": Quantity("B/s", "higher"),
    "operations_per_s": Quantity("1/s", "higher"),
    "batch_median_s": TIME,
}


def declared(header: Mapping[str, Any]) -> dict[str, Quantity]:
    """What the header of a record says of its quantities, in its order; nothing in version 1 of the schema."""
    return {name: Quantity(**facts) for name, facts in header.get("quantities", {}).items()}


def judged_by(known: Mapping[str, Quantity]) -> Iterator[tuple[str, Quantity]]:
    """What a point can be judged by, the best first: the leading quantity, the others as they are declared, and those
    of BEFORE that are not. Differences are left out, as nothing can be said of their ratios."""
    told = sorted(known.items(), key=lambda item: not item[1].leading)
    rest = [item for item in BEFORE.items() if item[0] not in known]
    yield from ((name, found) for name, found in (*told, *rest) if found.sign and name not in DIFFERENCES)
