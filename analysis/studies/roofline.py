# SPDX-License-Identifier: BSD-3-Clause
"""L1: the roofline's bounds of a machine, and the serial kernels against them: shares of them.

Himeno is bound by memory: an iteration moves 72 bytes a point at least and counts 34 operations, so the bound is that
share of the triad's rate of an equal footprint. EP is bound by the core: a pair takes two multiplications of the
generator, and one division and one square root, which share the divider.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pandas as pd

from analysis.evidence import SETTING, Array, Evidence
from analysis.figures import intervals
from analysis.figures.toolkit import Drawn
from analysis.records import frames
from analysis.statistics.interval import Interval, of_medians
from analysis.subject import Subject
from analysis.tables import numbers, times

TRIAD, PEAK, HIMENO, EP = "roofline-triad", "roofline-peak", "roofline-himeno", "roofline-npb"
OPERATIONS_A_POINT, BYTES_A_POINT = 34, 72
FOOTPRINT = {"XS": 4, "S": 30, "M": 235}  # grid -> the triad's size in MB that takes as much memory
GIGA, MEGA, NANO = 1e9, 1e6, 1e-9
Times = dict[Any, list[Array]]  # a parameter's value -> launches, each the seconds that a unit took


@dataclass(frozen=True)
class Share:
    """A kernel at one size: what it reached in its own unit, the bound, and the one as a share of the other."""

    kernel: str
    size: str
    mpi: str
    reached: Interval
    bound: Interval
    share: Interval
    unit: str


@dataclass(frozen=True)
class Machine:
    """What one session measured on one system with one MPI: only that is held against each other."""

    evidence: Evidence
    session: str
    system: str
    mpi: str

    def measured(self, study: str, parameter: str, quantity: str, scale: float) -> Times:
        """Launches by a parameter's value, each the times in which `scale` of the quantity's units are done."""
        points = self.evidence.points(study)
        here = points[[tuple(row) == self._place for row in points[SETTING].itertuples(index=False)]]
        found: Times = {}
        for (point,), part in frames.groups(here, ["point"]):
            launches = times(self.evidence.records, part, quantity, rate=True)
            found[json.loads(point)[parameter]] = [scale * launch for launch in launches]
        return found

    @property
    def _place(self) -> tuple[str, str, str]:
        return self.session, self.system, self.mpi

    @property
    def triad(self) -> Times:
        """Size in MB -> seconds that a GB took, all four arrays counted that are moved."""
        return self.measured(TRIAD, "megabytes", "moved_bytes_per_s", GIGA)

    @property
    def peak(self) -> Times:
        """Operation -> seconds that a billion took."""
        return self.measured(PEAK, "operation", "operations_per_s", GIGA)

    def shares(self) -> list[Share]:
        """Each kernel at each size that was measured together with its bound."""
        return [*self._himeno(), *self._ep()]

    def _himeno(self) -> list[Share]:
        memory, found = self.triad, []
        factor = OPERATIONS_A_POINT / BYTES_A_POINT
        for grid, launches in self.measured(HIMENO, "grid", "mflops", GIGA / MEGA).items():
            if moved := memory.get(FOOTPRINT.get(grid)):
                reached = of_medians(lambda x: 1 / x, {"x": launches})
                bound = of_medians(lambda x: factor / x, {"x": moved})
                share = of_medians(lambda x, y: y / x / factor, {"x": launches, "y": moved})
                found.append(Share("Himeno", grid, self.mpi, reached, bound, share, "GFLOPS"))
        return found

    def _ep(self) -> list[Share]:
        core, found = self.peak, []
        if not all(core.get(name) for name in ("multiply-integer", "divide", "sqrt")):
            return []
        parts = {"m": core["multiply-integer"], "d": core["divide"], "s": core["sqrt"]}  # nanoseconds of one
        bound = of_medians(lambda m, d, s: 2 * m + d + s, parts)
        for size, launches in self.measured(EP, "class", "mops", 2 * GIGA / MEGA).items():  # two numbers a pair
            reached = of_medians(lambda x: x, {"x": launches})
            share = of_medians(lambda x, m, d, s: (2 * m + d + s) / x, {"x": launches, **parts})
            found.append(Share("EP", size, self.mpi, reached, bound, share, "ns a pair"))
        return found


def machines(evidence: Evidence) -> list[Machine]:
    """Each session, system and MPI with a roofline."""
    points = evidence.records.points
    mine = points[points["study"].isin((TRIAD, PEAK))] if len(points) else points
    return [Machine(evidence, *map(str, keys)) for keys, _ in frames.groups(mine, SETTING)]


def shares(evidence: Evidence) -> list[Share]:
    """Of all of them."""
    return [share for machine in machines(evidence) for share in machine.shares()]


PAPER = "Williams, Waterman, Patterson, CACM 52 (2009)"


def draw(evidence: Evidence, provenance: str) -> list[Drawn]:
    """Each kernel's share of its bound."""
    found = [
        {"label": f"{share.kernel} {share.size}", "mpi": share.mpi, "variant": "bare",
         "study": HIMENO if share.kernel == "Himeno" else EP, **numbers(share.share), "status": "ok", "reason": "",
         "reached": share.reached.value, "bound": share.bound.value, "unit": share.unit}
        for share in shares(evidence)
    ]  # fmt: skip
    formula = (
        "what a kernel reaches on one rank over what the triad of an equal footprint (Himeno: 34 operations for 72 "
        f"bytes) or the core (EP: two multiplications, a division, a square root a pair) allows; {PAPER}"
    )
    title, lines = "Serial kernels against the roofline", {"the bound": 1.0}
    return intervals.draw(evidence, provenance, found, "roofline", title, formula, "share of the bound", lines, _found)


def _found(frame: pd.DataFrame) -> str:
    said = (f"{row['label']}: {100 * float(row['value']):.0f} % of its bound" for row in frames.rows(frame))
    return f"{'; '.join(said)}."


SUBJECT = Subject(
    "L1", (TRIAD, PEAK, HIMENO, EP), "", "how fast the serial kernels could be", (), (draw,),
    "nothing is claimed: the bounds are this machine's",
)  # fmt: skip

SUBJECTS = (SUBJECT,)
