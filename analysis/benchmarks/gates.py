# SPDX-License-Identifier: BSD-3-Clause
"""What a gate is worth: thousands of simulated ones on noise that was recorded.

    .venv/bin/python -m analysis.benchmarks.gates [--gates 2000] [--figure FILE] [SESSION...]

The noise is that of real launches: of every point of the sessions (those of results/reference) that has enough launches
of one variant, the logarithms of the medians of each launch's first samples, as few as a gate takes, less their middle.
A launch of a simulated gate is drawn from those of one point, so that it has their tails: a launch that took twice as
long is drawn as often as it happened. What is not drawn is that launches near in time are alike, which rounds take out
of a real gate.

Prints the false alarms with the upper end of their exact one-sided 95 % interval, and how often and after how many
minutes a slow-down is found, in brackets on the quieter four fifths of the points. Ends with status 1 where that bound
is 1 % or more.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy import stats

from analysis.compare.pairs import measured
from analysis.gate import decide, sequential
from analysis.gate.decide import Rule, State
from analysis.records.load import load, record_files
from analysis.text_table import markdown

Array = npt.NDArray[np.float64]
REFERENCE = ("overlap", "overlap-before", "overlap-10gbit", "overlap-mtu-1500", "overlap-mtu-9000", "demo")
FOLDER = Path(__file__).resolve().parents[2] / "results" / "reference"
ENOUGH = 6  # launches of one variant at one point
EFFECTS = (0.0, 0.01, 0.02, 0.03, 0.05, 0.08, 0.1)
MINUTES = (1.5, 3.0, 5.0, 10.0, 20.0)
BOUND = 0.01


@dataclass(frozen=True)
class Setting:
    """A gate of so many points; a launch takes `launch_s` with all of them, and a round three and the canary.

    A launch of overlap-mtu-9000 took 0.41 s a point and 0.41 s beside: 1.65 s with three.
    """

    points: int = 3
    samples: int = 3
    launch_s: float = 1.65
    canary_s: float = 0.8
    most: int = 200

    def rounds(self, minutes: float) -> int:
        return min(self.most, int(60 * minutes / self.round_s))

    @property
    def round_s(self) -> float:
        return 3 * self.launch_s + self.canary_s


def noise(sessions: Sequence[Path], samples: int) -> list[Array]:
    """Of every point and variant with enough launches, the logarithms of their medians less the middle."""
    found = []
    for session in sessions:
        for one in measured(load([session])).values():
            if len(one.launches) >= ENOUGH:
                logs = np.log([np.median(values[:samples]) for values in one.launches.values()])
                found.append(logs - np.median(logs))
    return found


def digest(session: Path) -> str:
    """Which session it is, since another one may get its name: as `cat SESSION/records/*.jsonl | sha256sum` begins."""
    return hashlib.sha256(b"".join(file.read_bytes() for file in record_files(session))).hexdigest()[:12]


def drawn_from(pools: Sequence[Array], sessions: Sequence[Path]) -> str:
    """Of what the noise is, in words."""
    spread = np.array([np.std(pool, ddof=1) for pool in pools])
    quantiles = ", ".join(f"{100 * value:.1f}" for value in np.quantile(spread, [0.1, 0.5, 0.9]))
    return (
        f"{len(pools)} points of {len(sessions)} sessions; launches differ by {quantiles} % (10, 50, 90 %)\n"
        f"SHA-256 of the records: {', '.join(f'{one.name} {digest(one)}' for one in sessions)}"
    )


def drawn(
    pools: Sequence[Array], gates: int, points: int, rounds: int, rng: np.random.Generator
) -> tuple[Array, npt.NDArray[np.int64]]:
    """(gates, points, arms, rounds) of logarithms without any effect, and which pool each point is of.

    Values of a pool of n launches are widened by sqrt(n / (n - 1)), by which their spread falls short.
    """
    chosen = rng.integers(0, len(pools), (gates, points))
    logs = np.empty((gates, points, 3, rounds))
    for place, pool in enumerate(pools):
        where = chosen == place
        wide = pool * np.sqrt(len(pool) / (len(pool) - 1))
        logs[where] = rng.choice(wide, (int(where.sum()), 3, rounds))
    # a discrete draw has ties, which real times have not: a jitter far below any noise parts them
    return logs + rng.normal(0, 1e-9, logs.shape), chosen


@dataclass(frozen=True)
class Tally:
    """How simulated gates of one effect and length ended. `minutes`: the middle of those that were decided; `quiet`:
    the share called `commit` of those whose slower point is among the quieter four fifths."""

    effect: float
    limit: float
    gates: int
    commit: int
    same: int
    moved: int
    minutes: float
    quiet: float

    @property
    def bound(self) -> float:
        """The upper end of the exact one-sided 95 % interval of the rate of `commit`."""
        return float(stats.binomtest(self.commit, self.gates, alternative="less").proportion_ci(0.95, "exact").high)


def simulate(
    pools: Sequence[Array], effect: float, limit: float, gates: int, setting: Setting = Setting(), seed: int = 1
) -> Tally:
    """Gates of at most `limit` minutes whose candidate is slower by `effect` in its first point."""
    rounds, rule = setting.rounds(limit), Rule()
    rng = np.random.default_rng([seed, round(1e6 * effect), round(10 * limit)])
    logs, chosen = drawn(pools, gates, setting.points, rounds, rng)
    logs[:, 0, decide.NEW] += np.log1p(effect)
    states, used = decide.run(logs, rule, sequential.looks(rounds), rounds)
    decided = used[states != int(State.OPEN)]
    minutes = float(np.median(decided)) * setting.round_s / 60 if len(decided) else float("nan")
    count = {state: int(np.sum(states == int(state))) for state in State}
    quiet = states[_quiet(pools)[chosen[:, 0]]] == int(State.COMMIT)
    ended = count[State.COMMIT], count[State.SAME], count[State.MOVED]
    return Tally(effect, limit, gates, *ended, minutes, float(quiet.mean()))


def _quiet(pools: Sequence[Array]) -> npt.NDArray[np.bool_]:
    """Which pools are among the quieter four fifths."""
    spread = np.array([np.std(pool, ddof=1) for pool in pools])
    return np.asarray(spread <= np.quantile(spread, 0.8))


def tables(tallies: Sequence[Tally]) -> str:
    """False alarms, then power: effect by the minutes that a gate may take."""
    alarms = [t for t in tallies if t.effect <= Rule().margin]
    rows = [
        [f"{100 * t.effect:g} %", f"{t.limit:g}", t.gates, t.commit, f"{100 * t.bound:.2f} %", t.same, t.moved]
        for t in alarms
    ]
    columns = ["slower by", "minutes at most", "gates", "called commit", "rate at most (95 %)", "same", "control moved"]
    lines = [*markdown(columns, rows), ""]
    limits = list(dict.fromkeys(t.limit for t in tallies))
    effects = list(dict.fromkeys(t.effect for t in tallies if t.effect > Rule().margin))
    by = {(t.effect, t.limit): t for t in tallies}
    cells = [[f"{100 * e:g} %", *(_power(by[e, limit]) for limit in limits)] for e in effects]
    return "\n".join([*lines, *markdown(["slower by", *(f"{limit:g} min" for limit in limits)], cells)])


def _power(tally: Tally) -> str:
    return f"{100 * tally.commit / tally.gates:.1f} % ({100 * tally.quiet:.1f} %), after {tally.minutes:.1f} min"


def draw(tallies: Sequence[Tally], file: Path) -> None:
    """Power by effect, a line for each length of the gate."""
    import matplotlib as mpl  # noqa: PLC0415 - a second of imports

    mpl.use("Agg")
    from matplotlib import pyplot  # noqa: PLC0415

    figure, axes = pyplot.subplots(figsize=(6, 4))
    for limit in dict.fromkeys(t.limit for t in tallies):
        mine = sorted((t for t in tallies if t.limit == limit), key=lambda t: t.effect)
        shares = [100 * t.commit / t.gates for t in mine]
        axes.plot([100 * t.effect for t in mine], shares, marker="o", label=f"{limit:g} min")
    axes.axvline(100 * Rule().margin, color="grey", linestyle=":")
    axes.set(xlabel="candidate slower by (%)", ylabel="called commit (%)", ylim=(-2, 102))
    axes.legend(title="at most")
    figure.savefig(file, bbox_inches="tight", metadata={"Date": None} if file.suffix == ".svg" else None)
    pyplot.close(figure)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("sessions", nargs="*", type=Path, default=[FOLDER / name for name in REFERENCE])
    parser.add_argument("--gates", type=int, default=2000)
    parser.add_argument("--samples", type=int, default=Setting.samples, help="of each launch")
    parser.add_argument("--launch-s", type=float, default=Setting.launch_s, help="how long it takes")
    parser.add_argument("--figure", type=Path)
    asked = parser.parse_args(arguments)
    setting = Setting(samples=asked.samples, launch_s=asked.launch_s)
    pools = noise(asked.sessions, setting.samples)
    print(f"{drawn_from(pools, asked.sessions)}\n")
    tallies = [simulate(pools, effect, limit, asked.gates, setting) for limit in MINUTES for effect in EFFECTS]
    print(tables(tallies))
    if asked.figure:
        draw(tallies, asked.figure)
    return 1 if any(t.bound >= BOUND for t in tallies if t.effect == 0) else 0


if __name__ == "__main__":
    sys.exit(main())
