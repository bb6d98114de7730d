# SPDX-License-Identifier: BSD-3-Clause
"""How often `compare` is alarmed by the same program measured again, on real sessions.

    .venv/bin/python -m analysis.benchmarks.aa [--use tested] [--data FILE] SESSION...

Keeps the sessions as medians of launches in the data file (by default the committed one) and prints the tables of
docs/measured/false-alarms.md. Without a session it prints the tables of what is kept. The margin is chosen on some
sessions, the smallest of MARGINS without an alarm in any pair of them, and tested on others: those a session is for
stays with it in the file. `--use split`, the default, takes the first half of the new sessions of each MPI and machine
to choose and the later half to test; `--use tested` takes all of them to test.

A pair is two sessions of one program on one MPI and machine. For choosing, all pairs count. For testing only pairs that
share no session, each session with the next: n sessions are floor(n / 2) independent pairs, and only of those an upper
bound of the rate is given (exact binomial, 95 %). The points of a pair share its launches, so they are counted and have
no bound. Halves of one session (every second launch) see only what differs between launches, not between sessions.

Ends with status 1 where the margin chosen is not the one that `compare` uses.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from scipy import stats

from analysis.benchmarks import aa_sessions
from analysis.benchmarks.aa_sessions import FILE, Kept
from analysis.compare.comparison import Judgement
from analysis.compare.judge import FALSE_ALARMS, MARGIN, judge_points
from analysis.errors import UsageError
from analysis.text_table import markdown

MARGINS = (0.0, 0.005, 0.01, 0.015, 0.02, 0.03, 0.05)
CHANGED = (Judgement.SLOWER, Judgement.FASTER)
Pair = tuple[Kept, Kept]


@dataclass(frozen=True)
class Tally:
    """Decisions and how many of them were alarms: of sessions, and of the points in them."""

    pairs: int = 0
    alarms: int = 0
    points: int = 0
    point_alarms: int = 0

    @property
    def bound(self) -> float:
        """The upper end of the exact one-sided 95 % interval of the rate of alarms; 1 where nothing was decided."""
        if not self.pairs:
            return 1.0
        return float(stats.binomtest(self.alarms, self.pairs, alternative="less").proportion_ci(0.95, "exact").high)


def tally(pairs: Sequence[Pair], margin: float = MARGIN) -> Tally:
    """What `compare` says of every pair: an alarm is a session or a point called slower or faster.

    A session is called so where one of its points is. Pairs of which nothing can be compared are no decisions, be it
    that all of it was disturbed.
    """
    decided = alarms = points = point_alarms = 0
    for base, new in pairs:
        judged, session = judge_points(base.points, new.points, margin, FALSE_ALARMS)
        compared = [point for point in judged if not math.isnan(point.p) and point.undisturbed is None]
        decided += bool(compared)
        alarms += session.verdict in CHANGED
        points += len(compared)
        point_alarms += sum(point.verdict in CHANGED for point in compared)
    return Tally(decided, alarms, points, point_alarms)


def alike(kept: Sequence[Kept]) -> list[list[Kept]]:
    """The sessions of one program on one MPI and machine together, in order of time."""
    found: dict[tuple[object, ...], list[Kept]] = {}
    for one in kept:
        found.setdefault((one.machine, one.about, one.mpi, frozenset(one.points)), []).append(one)
    return list(found.values())


def all_pairs(kept: Sequence[Kept]) -> list[Pair]:
    """Every pair: not independent of each other, as each session is in several."""
    return [pair for group in alike(kept) for pair in itertools.combinations(group, 2)]


def disjoint_pairs(kept: Sequence[Kept]) -> list[Pair]:
    """Each session with the next: no session is in two pairs."""
    return [pair for group in alike(kept) for pair in zip(group[::2], group[1::2], strict=False)]


def halves(kept: Sequence[Kept]) -> list[Pair]:
    """Every second launch of each session against the others of it."""
    return [(_every_second(one, 0), _every_second(one, 1)) for one in kept]


def alone(kept: Sequence[Kept]) -> list[Kept]:
    """Those that are in no pair to be tested on: of them nothing but halves can be compared."""
    paired = {(one.name, one.mpi) for pair in disjoint_pairs(used(kept, "tested")) for one in pair}
    return [one for one in kept if one.slowdown == 1 and (one.name, one.mpi) not in paired]


def _every_second(one: Kept, first: int) -> Kept:
    points = {
        key: replace(entry, launches=dict(list(entry.launches.items())[first::2])) for key, entry in one.points.items()
    }
    return replace(one, points=points)


def slowed_pairs(kept: Sequence[Kept]) -> list[Pair]:
    """Every session that was made slower against each of the same program that was not."""
    return [
        (base, new)
        for group in alike(kept)
        for base, new in itertools.product(group, group)
        if base.slowdown == 1 and new.slowdown > 1
    ]


def used(kept: Sequence[Kept], use: str) -> list[Kept]:
    """Those for this use that were not slowed."""
    return [one for one in kept if one.use == use and one.slowdown == 1]


def alarms_chosen_on(kept: Sequence[Kept]) -> dict[float, int]:
    """Margin -> alarms among all pairs of the sessions that it is chosen on; empty where there is no pair."""
    pairs = all_pairs(used(kept, "chosen"))
    return {margin: tally(pairs, margin).alarms for margin in MARGINS} if pairs else {}


def choose(alarms: Mapping[float, int]) -> float | None:
    """The smallest margin without an alarm; None where there is none."""
    return next((margin for margin, count in alarms.items() if not count), None)


def split(fresh: Sequence[Kept]) -> list[Kept]:
    """The first half of each group to choose on, the later half to test on."""
    first = {(one.name, one.mpi) for group in alike(fresh) for one in group[: len(group) // 2]}
    return [replace(one, use="chosen" if (one.name, one.mpi) in first else "tested") for one in fresh]


def tables(kept: Sequence[Kept], alarms: Mapping[float, int]) -> str:
    """The tables as Markdown; `alarms` as alarms_chosen_on() counts them."""
    parts = [_choice(kept, alarms), _test(used(kept, "tested"), disjoint_pairs, "independent pairs")]
    parts += [_test(alone(kept), halves, "sessions halved"), _found(kept)]
    return "\n\n".join("\n".join(part) for part in parts)


def _choice(kept: Sequence[Kept], alarms: Mapping[float, int]) -> list[str]:
    pairs, slowed = all_pairs(used(kept, "chosen")), slowed_pairs(kept)
    rows = []
    for margin, count in alarms.items():
        mark = "**" if margin == choose(alarms) else ""
        rows.append([f"{mark}{100 * margin:g} %{mark}", count, tally(slowed, margin).alarms])
    return markdown(
        ["margin", f"pairs with an alarm, of {len(pairs)} chosen on", f"slowed found, of {len(slowed)}"], rows
    )


def _test(kept: Sequence[Kept], pairing: Callable[[Sequence[Kept]], list[Pair]], words: str) -> list[str]:
    rows: list[Sequence[object]] = []
    for machine in dict.fromkeys(one.machine for one in kept):
        here = [one for one in kept if one.machine == machine]
        mpis = {mpi: [one for one in here if one.mpi == mpi] for mpi in dict.fromkeys(one.mpi for one in here)}
        for mpi, mine in (mpis | {"all of them": here}).items() if len(mpis) > 1 else mpis.items():
            found = tally(pairing(mine))
            counts = (len(mine), found.pairs, found.alarms, _percent(found), found.points, found.point_alarms)
            rows.append([machine, mpi, *counts])
    columns = ["machine", "MPI", "sessions", words, "alarms", "rate at most (95 %)", "points", "alarms of points"]
    return markdown(columns, rows or [["none yet", "", 0, 0, "", "", "", ""]])


def _percent(found: Tally) -> str:
    if not found.pairs:
        return "unknown"
    return f"{100 * found.bound:.{0 if found.bound > 0.1 else 2}f} %"


def _found(kept: Sequence[Kept]) -> list[str]:
    rows = []
    pairs = slowed_pairs(kept)
    for place in dict.fromkeys((new.machine, new.mpi, new.slowdown) for _, new in pairs):
        mine = [(base, new) for base, new in pairs if (new.machine, new.mpi, new.slowdown) == place]
        machine, mpi, slowdown = place
        rows.append([machine, mpi, f"{100 * (slowdown - 1):.0f} %", len(mine), tally(mine).alarms])
    return markdown(["machine", "MPI", "computation longer by", "pairs", "found at the margin used"], rows)


def keep(paths: Sequence[Path], use: str, data: Path) -> None:
    """Adds the sessions to the data file. UsageError where one is there already."""
    kept = aa_sessions.read(data) if data.exists() else []
    fresh = aa_sessions.reduce(paths, "tested")
    again = sorted({one.name for one in kept} & {one.name for one in fresh})
    if again:
        raise UsageError(f"{', '.join(again)}: kept in {data} already; each session counts once")
    fresh = split(fresh) if use == "split" else [replace(one, use=use) for one in fresh]
    with data.open("w") as stream:
        aa_sessions.write([*kept, *fresh], stream)


def main() -> int:
    parser = argparse.ArgumentParser(description="How often compare is alarmed by the same program measured again.")
    parser.add_argument("sessions", nargs="*", type=Path, metavar="SESSION", help="folders of sessions to keep")
    parser.add_argument(
        "--use", choices=[*aa_sessions.USES, "split"], default="split", help="what new sessions are for"
    )
    parser.add_argument("--data", type=Path, default=FILE, help="the file of what is kept")
    arguments = parser.parse_args()
    try:
        if arguments.sessions:
            keep(arguments.sessions, arguments.use, arguments.data)
    except UsageError as error:
        print(f"aa: {error}", file=sys.stderr)
        return 2
    kept = aa_sessions.read(arguments.data)
    alarms = alarms_chosen_on(kept)
    print(tables(kept, alarms))
    chosen = choose(alarms)
    if chosen != MARGIN:
        print(f"aa: the margin chosen is {chosen}, and compare uses {MARGIN}", file=sys.stderr)
    return 0 if chosen == MARGIN else 1


if __name__ == "__main__":
    sys.exit(main())
