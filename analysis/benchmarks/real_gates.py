# SPDX-License-Identifier: BSD-3-Clause
"""What real gates measured, for those who want to judge it again.

    .venv/bin/python -m analysis.benchmarks.real_gates FILE.jsonl RESULTS > FILE.csv

`FILE.jsonl` is that of harness.sessions.real_gates, RESULTS the folder of its sessions. A line is a round of a point:
the medians of the launches of the three arms, in the point's unit; or the seconds of a canary at a place, which has a
value a round and no arms. Gates are numbered as in the table of FILE. Rounds that no verdict used are there as well.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from analysis.benchmarks.kept import sessions_of, status_of
from analysis.gate.measured import ARMS, Measurement, read

HEAD = ("gate", "what", "quantity", "round", *ARMS)


def rows(number: int, measured: Measurement) -> Iterator[tuple[Any, ...]]:
    for series in measured.series:
        turns = sorted(set.union(*(set(series.values.get(arm, {})) for arm in ARMS)))
        for turn in turns:
            values = (_shown(series.values.get(arm, {}).get(turn)) for arm in ARMS)
            yield (number, series.name, series.quantity, turn, *values)
    for what, places in measured.canary.items():
        for place, of_round in places.items():
            for turn, seconds in sorted(of_round.items()):
                yield (number, f"canary: {what} {place}", "seconds", turn, _shown(seconds), "", "")


def _shown(value: float | None) -> str:
    return "" if value is None else f"{value:.5g}"


def write(kept: Path, results: Path, stream: TextIO) -> None:
    """UsageError where the file or a session cannot be read."""
    sessions = sessions_of(kept, "gates")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(HEAD)
    for number, session in enumerate(sessions, 1):
        writer.writerows(rows(number, read(results / session)))


def main(words: Sequence[str] | None = None) -> int:
    return status_of(partial(write, stream=sys.stdout), ("FILE.jsonl", "the folder of its sessions"), words)


if __name__ == "__main__":
    sys.exit(main())
