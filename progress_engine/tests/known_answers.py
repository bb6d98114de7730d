# SPDX-License-Identifier: BSD-3-Clause
"""What the profiler must find in the programs with known answers: programs/where.c and .F90, python_where.py."""

from __future__ import annotations

import re

import pytest

from analysis.where import Where

SITE = re.compile(
    r"^site (\d) (\w+) (\w+:\d+) count (\d+) parts (\d+) computed ([\d.]+) waited ([\d.]+) whole ([\d.]+) "
    r"late ([\d.]+)(?: delay ([\d.]+))?$", re.MULTILINE,
)  # fmt: skip
CLOCKS = 1e-4  # seconds by which the program's clock and the profiler's may differ over a run
NEAR = 0.05
IN_PYTHON = {(0, "exchange"), (1, "exchange"), (1, "late"), (1, "blocking")}
IN_FORTRAN = IN_PYTHON | {(0, "collective"), (1, "collective"), (0, "window")}
IN_C = IN_FORTRAN | {
    (1, "late_collective"),
    (0, "persistent"),
    (1, "persistent"),
    (1, "shared"),
    (1, "one_by_one"),
    (1, "some"),
    (1, "cancelled"),
    (0, "unlock"),
}
MPI_4 = {(0, "partitioned"), (1, "partitioned"), (0, "both_ways"), (1, "both_ways")}
LATE = {
    "late",
    "blocking",
    "shared",
    "both_ways",
    "late_collective",
}  # of which a partner is waited for that begins late
# Of a request that follows a cancelled one nobody knows the partner's, and so of windows.
PARTNER_UNKNOWN = {"cancelled", "window", "unlock", "partitioned"}


def check(said: str, found: Where, file: str, function: str = "{}") -> set[tuple[int, str]]:
    """That each site of a program with known answers in a `file` has the times that the program says. Its clock stands
    around the calls, and within what is computed: the one is never less, and the other never more than the profiler's,
    whatever else this machine does. Which sites it says."""
    known = SITE.findall(said)
    for of, name, at, *numbers in known:
        count, parts, computed, waited, whole, late, delay = (float(number or 0) for number in numbers)
        clocks = CLOCKS + delay
        spot, _, line = at.partition(":")
        place = f"{function.format(spot)}() {file}:{line}"
        mine = [row for row in found.every if row.rank == int(of) and row.start and row.start.place == place]
        site = f"{name} of rank {of}: {numbers}, {mine}"
        assert sum(row.count for row in mine) == count, site
        alone = all(row.completion is None for row in mine)
        inside = parts * sum(row.inside_s if alone else row.waited_s for row in mine)
        assert (1 - NEAR) * waited - CLOCKS * count - delay <= inside <= waited + clocks, site
        if not alone:
            here = sum(row.computed_s for row in mine)
            assert computed - clocks <= here <= whole - inside + clocks, site
        lost = parts * sum(row.late_s for row in mine)
        assert (name not in PARTNER_UNKNOWN) * (1 - NEAR) * late - clocks <= lost <= (1 + NEAR) * late + clocks, site
        winnable = parts * sum(row.winnable_s for row in mine)
        assert winnable <= inside - lost + clocks, site
        if name == "one_by_one":
            assert winnable <= computed / 2 + clocks, site
        if name in LATE and late > 0:
            assert lost >= (inside - delay) / 2, site
        if name in PARTNER_UNKNOWN:
            assert lost == 0, site
            assert winnable == pytest.approx(inside), site
    return {(int(of), name) for of, name, *_ in known}
