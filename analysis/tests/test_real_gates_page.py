# SPDX-License-Identifier: BSD-3-Clause
"""docs/measured/real-gates.md says what the kept samples say: the counts of its table, and each gate's verdict from the
launches beside it."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from analysis.gate import decide, sequential
from analysis.gate.decide import Rule
from analysis.gate.judge import judge
from analysis.gate.measured import ARMS, Measurement, Plan, Series

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "results" / "reference" / "real-gates"
PAGE = (ROOT / "docs" / "measured" / "real-gates.md").read_text()
MENDED = "50fb6937b637"  # the commit of the gates of latency that are in a row of their own
MOST_ROUNDS = 200


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (KEPT / name).read_text().splitlines()]


GATES = lines("gates.jsonl")


def right(one: dict[str, Any]) -> bool:
    """As harness.sessions.real_gates has it."""
    kind, verdict = str(one["kind"]), one["verdict"]
    if "all nodes busy" in kind or "another folder" in kind:
        return bool(verdict == ("system" if "busy" in kind else "same"))
    slower = "--inject-slowdown" in str(one["command"])
    if "busy" in kind and not slower:
        return bool(verdict == "node")
    return bool((verdict == "commit") == slower)


def test_the_table_has_what_the_gates_said() -> None:
    """Its rows are their kinds, in another order: each has some number of gates, verdicts, right ones and rounds."""
    every: dict[tuple[str, bool], list[dict[str, Any]]] = {}
    for one in GATES:
        every.setdefault((one["kind"], one["commit"] == MENDED), []).append(one)
    said = []
    for mine in every.values():
        verdicts = Counter(one["verdict"] for one in mine)
        rounds = sorted(one["rounds"] for one in mine)[len(mine) // 2]
        said.append((len(mine), verdicts, sum(map(right, mine)), rounds))
    told = []
    for number, words, good, rounds in re.findall(r"^\| .* \| (\d+) \| (.*) \| \**(\d+)\** \| (\d+) \|$", PAGE, re.M):
        counted = Counter({verdict: int(count) for count, verdict in re.findall(r"(\d+) `(\w+)`", words)})
        told.append((int(number), counted, int(good), int(rounds)))
    assert sorted(told, key=str) == sorted(said, key=str)
    assert f"{len(GATES)} gates, " in PAGE and sum(map(right, GATES)) == 76
    assert [one["kind"] for one in GATES if not right(one)] == ["latency, 5 % longer"]


def test_what_is_said_of_the_slower_ones() -> None:
    found = [one for one in GATES if one["verdict"] == "commit" and "busy" not in one["kind"]]
    first, most = sum(one["rounds"] == sequential.FIRST for one in found), max(one["rounds"] for one in found)
    assert (len(found), first, most) == (34, 9, 48)
    assert "Of the 34 slower candidates" in PAGE and "nine were found at the first look" in PAGE and "within 48" in PAGE
    words = {
        "overlap, computation 5 %": "overlap",
        "latency, 5 %": "latency",
        "Fourier": "whole of the Fourier transforms",
    }
    for kind, name in words.items():
        points = [point for one in GATES if kind in one["kind"] and "slow" in one["command"] for point in one["points"]]
        ratios = [100 * (point["ratio"] - 1) for point in points]
        assert f"{name} {min(ratios):.1f} to {max(ratios):.1f} %" in " ".join(PAGE.split())


def measured(one: dict[str, Any], rows: list[dict[str, str]], rounds: int) -> Measurement:
    """A gate of so many planned rounds, from its lines in launches.csv."""
    canary: dict[str, dict[str, dict[int, float]]] = {}
    series: dict[str, Series] = {}
    for row in rows:
        turn = int(row["round"])
        if row["what"].startswith("canary: "):
            _, what, place = row["what"].split(" ", 2)
            canary.setdefault(what, {}).setdefault(place, {})[turn] = float(row["base"])
            continue
        empty = Series(row["what"], row["quantity"], 1, {arm: {} for arm in ARMS})
        values = series.setdefault(row["what"], empty).values
        for arm in ARMS:
            if row[arm]:
                values[arm][turn] = float(row[arm])  # type: ignore[index]
    plan = Plan(rounds, sequential.looks(rounds), Rule().margin, "adaptive", "adaptive")
    studies = list(dict.fromkeys(name.study for name in series.values()))
    return Measurement(one["session"], plan, "", "", "", list(series.values()), canary, [], studies=studies)


def planned(one: dict[str, Any], ran: int) -> int:
    """How many rounds the gate had planned: with so many its look leaves the level that its intervals have."""
    level, points = one["points"][0]["level"], len(one["points"])
    for rounds in range(ran, MOST_ROUNDS + 1):
        at = [look for look in sequential.looks(rounds) if look <= ran]
        at += [ran] if rounds not in at else []
        spent = zip(at, decide.levels(Rule(), at, rounds, points), strict=True)
        if (one["rounds"], level) in [(place, pytest.approx(1 - 2 * here.same, abs=1e-9)) for place, here in spent]:
            return rounds
    raise AssertionError(one["session"])


@pytest.mark.full
def test_the_kept_launches_lead_to_each_verdict() -> None:
    """But for that of the system, which is held against earlier gates. Launches are kept with five digits."""
    of_gate: dict[int, list[dict[str, str]]] = {}
    with (KEPT / "launches.csv").open() as stream:
        for row in csv.DictReader(stream):
            of_gate.setdefault(int(row["gate"]), []).append(row)
    for number, one in enumerate(GATES, 1):
        ran = len({row["round"] for row in of_gate[number] if row["new"]})
        found = judge(measured(one, of_gate[number], planned(one, ran)))
        assert found.rounds == one["rounds"], one["session"]
        assert one["verdict"] in (found.verdict.value, "system"), one["session"]
        ratios = [point["ratio"] for point in one["points"]]
        assert [point.ratio for point in found.points] == pytest.approx(ratios, rel=1e-3), one["session"]
