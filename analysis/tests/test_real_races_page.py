# SPDX-License-Identifier: BSD-3-Clause
"""docs/measured/real-races.md says what the kept samples say: the counts of its table, and each race's verdict from the
launches beside it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from analysis.benchmarks.real_races import read
from analysis.tuning import verdict

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "results" / "reference" / "real-races"
PAGE = (ROOT / "docs" / "measured" / "real-races.md").read_text()
DONE: list[dict[str, Any]] = [json.loads(line) for line in (KEPT / "races.jsonl").read_text().splitlines()]
RACES = read(KEPT)


def test_the_table_has_what_the_races_said() -> None:
    """Each kind, in the order of its first race: races, with a winner, the median of settings tried, and failures."""
    kinds: dict[str, list[dict[str, Any]]] = {}
    for one in DONE:
        kinds.setdefault(one["kind"], []).append(one)
    said = [
        (
            kind,
            len(mine),
            sum(one["verdict"] == "winner" for one in mine),
            sorted(one["tried"] for one in mine)[len(mine) // 2],
            sum(len(one["failed"]) for one in mine),
        )
        for kind, mine in kinds.items()
    ]
    rows = re.findall(r"^\| ([^|]+) \| [^|]+ \| [^|]+ \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", PAGE, re.M)
    assert [(kind, *map(int, numbers)) for kind, *numbers in rows] == said


@pytest.mark.parametrize("number", range(len(DONE)))
def test_a_verdict_comes_out_again(number: int) -> None:
    told = verdict.of(RACES[number])
    one = DONE[number]
    assert (told.sentence, told.winner, told.confirmed) == (one["sentence"], one["winner"], one["verdict"] == "winner")
    assert told.values == one["values"]


def test_each_race_is_told_of() -> None:
    """With its sentence, whatever the lines of the page are."""
    page = " ".join(PAGE.split())
    assert [one["sentence"] for one in DONE if one["sentence"] not in page] == []
