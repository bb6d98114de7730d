# SPDX-License-Identifier: BSD-3-Clause
"""How soon a race finds the best of a grid that was measured as a whole.

    ./bench run overlap-ratio --mpi mpich --variant adaptive:events=none:doorbell=none --set launches=6 \\
        --set size_bytes=262144 --set pattern=both --set comp_over_comm=1 --set burst=3,1,30 --set rest_us=10000,0
    .venv/bin/python -m analysis.benchmarks.recorded_races [--races 500] SESSION

The first value of each axis is the default, the others are what is tried. A simulated race launches a setting by
drawing one of its recorded launches, and is decided by the code that decides real ones. What a setting is worth is the
median of its launches. For each kind of proposals: how often a winner is confirmed; what share of the gain of the best
setting the written ones have, in the mean of all races; and after how many launches the leader had NEARLY all of that
gain and kept it, as the median of all races, among which one where it never does counts as infinitely many. Measuring
the grid, each setting as often as a race's block does, stands beside it.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from analysis.benchmarks import races
from analysis.benchmarks.races import JITTER, RACES, Launch, Values
from analysis.compare.pairs import measured
from analysis.errors import UsageError
from analysis.records.load import load
from analysis.text_table import markdown
from analysis.tuning.asked import UNSET, Asked, Axis

NEARLY = 0.9  # of the best setting's gain
SEARCHES = ("effects", "tpe", "random")
Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Grid:
    """`launches`: setting -> of each of its launches what it measured, as a logarithm of which more is better. A
    setting is the values that are no default, sorted."""

    axes: Sequence[Axis]
    launches: Mapping[tuple[tuple[str, str], ...], Array]

    def of(self, values: Values) -> Array:
        return self.launches[tuple(sorted(values.items()))]

    def gain(self, values: Values) -> float:
        """Over the default."""
        return float(np.median(self.of(values)) - np.median(self.of({})))

    @property
    def best(self) -> dict[str, str]:
        return dict(max(self.launches, key=lambda one: self.gain(dict(one))))

    def launch(self, seed: int) -> Launch:
        rng = np.random.default_rng(seed)
        return lambda values, _turn: float(rng.choice(self.of(values))) + float(rng.normal(0, JITTER))


def recorded(session: Path) -> Grid:
    """The grid of a session; UsageError unless it is one of a single study, MPI and variant, without a gap."""
    records = load([session])
    chosen = (records.sessions[0].get("request") or {}).get("settings") or {}
    values_of = {name: value.split(",") for name, value in chosen.items() if "," in value}
    points = measured(records)
    if len({key[:4] for key in points}) != 1 or not values_of:
        raise UsageError(f"{session} has no grid: --set with several values is wanted, one MPI and one variant.")
    found: dict[tuple[tuple[str, str], ...], Array] = {}
    for key, one in points.items():
        point = json.loads(key[-1])
        if one.failure or not one.launches:
            raise UsageError(f"{session} has a gap: {key[-1]} {one.failure or 'has no launch'}.")
        had = {name: next((one for one in values if _same(one, point[name])), "") for name, values in values_of.items()}
        changed = {name: value for name, value in had.items() if value != values_of[name][0]}
        found[tuple(sorted(changed.items()))] = -one.sign * np.log(one.medians)
    axes = [Axis(name, (UNSET, *values[1:])) for name, values in values_of.items()]
    if len(found) != math.prod(len(axis.values) for axis in axes):
        raise UsageError(f"{session} has a gap: it holds {len(found)} settings, which is no whole grid.")
    return Grid(axes, found)


def _same(asked: str, had: object) -> bool:
    """A value as it was asked for is that of a point: 1 and 1.0 are the same number."""
    try:
        return float(asked) == float(str(had))
    except ValueError:
        return asked == str(had)


def told(grid: Grid, count: int, blocks: int) -> list[str]:
    """What the best is, and the table."""
    best = grid.gain(grid.best)
    each = Asked("time", tuple(grid.axes)).settle
    named = ", ".join(f"{name}={value}" for name, value in grid.best.items()) or "the default"
    lines = [f"{len(grid.launches)} settings; the best is {named}: {math.expm1(best):.1%} better than the default.", ""]
    rows = []
    for search in SEARCHES:
        ended = [races.race(grid.launch(seed), search, seed, blocks, grid.axes) for seed in range(count)]
        confirmed = sum(one.confirmed for one in ended)
        share = float(np.mean([grid.gain(one.winner) for one in ended])) / best if best else math.nan
        after, never = races.budget(ended, lambda values: grid.gain(values) >= NEARLY * best)
        rows.append([search, f"{confirmed} of {count}", f"{share:.0%}", after, never])
    rows.append(["all of them", "", "", f"{each * len(grid.launches)}", ""])
    head = ["proposals", "confirmed", "share of the gain", "leads for good after launches (median)", "never"]
    return [*lines, *markdown(head, rows)]


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--races", type=int, default=RACES)
    parser.add_argument("--blocks", type=int, default=8, help="of six rounds each, at most")
    parser.add_argument("session", type=Path)
    asked = parser.parse_args(arguments)
    if asked.races < 1:
        parser.error(f"--races {asked.races}: 1 is wanted at least.")
    try:
        print("\n".join(told(recorded(asked.session), asked.races, asked.blocks)))
    except UsageError as error:
        parser.error(str(error))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
