# SPDX-License-Identifier: BSD-3-Clause
"""How often simultaneous intervals all hold the truth: simulated launches of many points, nominal 95 %.

    .venv/bin/python -m analysis.benchmarks.simultaneous [--runs 6000] [--launches 6 --launches 12]

Every cell is the chance, in per cent, that at least one of K independent points lies outside of its interval (5 or less
is what they promise), from how often single ones do. Launches and samples are those of analysis/benchmarks/coverage.py.
Ends with status 1 where a cell is more than two standard errors of the simulation above 5 % and 2 points.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

from analysis.benchmarks.coverage import EFFECTS, NOMINAL, RATIO, SPREADS, STATEMENTS, TOLERANCE, launches, true_median
from analysis.statistics.interval import simultaneous

POINTS = (1, 3, 10, 30)
SHOWN = ("ratio", "median")


def misses(statement: str, count: int, effect: str, runs: int, seed: int = 0) -> dict[int, float]:
    """K -> the chance that one of K points is missed; `count` launches of each group."""
    rng = np.random.default_rng([seed, count])
    function, truth = STATEMENTS[statement]
    median = true_median(EFFECTS[effect], SPREADS[0])
    wanted = truth(RATIO * median, median)
    missed = dict.fromkeys(POINTS, 0)
    for run in range(runs):
        above, below = (launches(rng, scale, count, EFFECTS[effect], SPREADS[0]) for scale in (RATIO, 1.0))
        alone = function(above, below, run)
        for points in POINTS:
            found = simultaneous(alone, points)
            # launches that seem to be of two kinds decide nothing, and stay as they are
            missed[points] += found.defensible and not found.low <= wanted <= found.high
    return {points: 1 - (1 - count / runs) ** points for points, count in missed.items()}


def beyond(chance: float, points: int, runs: int) -> bool:
    """Whether a chance is further above 1 - NOMINAL than TOLERANCE and two standard errors of its simulation."""
    single = (1 - NOMINAL) / points
    error = points * float(np.sqrt(single * (1 - single) / runs))
    return chance > 1 - NOMINAL + TOLERANCE + 2 * error


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=6000)
    parser.add_argument("--launches", type=int, action="append", help="of both groups; may be repeated")
    arguments = parser.parse_args()
    print(f"{'statement':<12}{'launches differ by':<24}{'launches':>9}" + "".join(f"{f'K={k}':>7}" for k in POINTS))
    bad = 0
    for statement in SHOWN:
        for name in (name for name, effect in EFFECTS.items() if not effect.two_kinds):
            for count in arguments.launches or (6, 12):
                found = misses(statement, count, name, arguments.runs)
                bad += sum(beyond(chance, points, arguments.runs) for points, chance in found.items())
                cells = "".join(f"{100 * chance:>7.1f}" for chance in found.values())
                print(f"{statement:<12}{name:<24}{count:>9}{cells}", flush=True)
    print(f"{bad} cells lie above {100 * (1 - NOMINAL):g} + {100 * TOLERANCE:g} %")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
