# SPDX-License-Identifier: BSD-3-Clause
"""What real races measured, for those who want to judge them again.

    .venv/bin/python -m analysis.benchmarks.real_races FILE.jsonl RACES FOLDER

`FILE.jsonl` is that of harness.sessions.real_races, RACES the folder of its sessions. FOLDER gets `launches.csv`, a
line a launch: the race's number in FILE, setting, round, the objective as it is and as it is compared (more is better,
logarithms where ratios are compared), and what it is weighed against; and `asked.jsonl`, a line a race: what was asked
for, the settings, the blocks, and why launches failed. `read(FOLDER)` gives the races, as the code that decides takes
them.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from analysis.benchmarks.kept import sessions_of, status_of
from analysis.tuning import asked, measured
from analysis.tuning.measured import Measured, Score

LAUNCHES, ASKED = "launches.csv", "asked.jsonl"
HEAD = ("race", "setting", "round", "value", "compared", "weighed against")
SECTIONS = ("failures", "failed_in")


def write(kept: Path, races: Path, folder: Path) -> None:
    """UsageError where the file or a session cannot be read."""
    sessions = sessions_of(kept, "races")
    found = [measured.read(races / session) for session in sessions]  # which says what is wrong with one
    facts = [json.loads((races / session / "session.json").read_text()) for session in sessions]
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ASKED).open("w") as lines:
        for fact, race in zip(facts, found, strict=True):
            request = {name: fact["request"].get(name) for name in ("race", "program")}
            whole = {"session": fact["session"], "request": request} | {name: getattr(race, name) for name in SECTIONS}
            lines.write(json.dumps(whole) + "\n")
    with (folder / LAUNCHES).open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(HEAD)
        for number, race in enumerate(found, 1):
            writer.writerows(_rows(number, race))


def _rows(number: int, race: Measured) -> list[tuple[Any, ...]]:
    return [
        (number, arm, turn, f"{race.plain[arm][turn]:.7g}", f"{score.value:.7g}", _costs(score))
        for arm, rounds in race.scores.items()
        for turn, score in sorted(rounds.items())
    ]


def _costs(score: Score) -> str:
    return " ".join(f"{name}={value:.7g}" for name, value in score.bounds.items())


def read(folder: Path) -> list[Measured]:
    """The races that `write` kept there."""
    scores: dict[int, dict[str, dict[int, Score]]] = {}
    plain: dict[int, dict[str, dict[int, float]]] = {}
    with (folder / LAUNCHES).open(newline="") as stream:
        for row in csv.DictReader(stream):
            number, arm, turn = int(row["race"]), row["setting"], int(row["round"])
            costs = {name: float(value) for name, value in (one.split("=") for one in row[HEAD[-1]].split())}
            scores.setdefault(number, {}).setdefault(arm, {})[turn] = Score(float(row["compared"]), costs)
            plain.setdefault(number, {}).setdefault(arm, {})[turn] = float(row["value"])
    return [
        Measured(asked.of(facts), scores.get(number, {}), plain=plain.get(number, {}), **_sections(facts))
        for number, facts in enumerate(map(json.loads, (folder / ASKED).read_text().splitlines()), 1)
    ]


def _sections(facts: dict[str, Any]) -> dict[str, Any]:
    return {name: facts[name] for name in SECTIONS}


def main(words: Sequence[str] | None = None) -> int:
    return status_of(write, ("FILE.jsonl", "the folder of its sessions", "the folder to write to"), words)


if __name__ == "__main__":
    sys.exit(main())
