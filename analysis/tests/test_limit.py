# SPDX-License-Identifier: BSD-3-Clause
"""The limit: chosen on one half of the launches and judged on the other, and how near a variant comes to it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.limit import goals, main
from analysis.metrics.evaluate import evaluate
from analysis.metrics.times import ONE_LAUNCH
from analysis.records.load import load
from analysis.report.tables import results
from analysis.report.verdict import verdict
from analysis.tests.synthetic import LIMITED, Behaviour, Synthetic
from analysis.tests.test_metrics import exact, metric
from analysis.tests.test_verdict import changed_points

ONE_POINT = {"comp_over_comm": (1.0,), "launches": 6}


def of(tmp_path: Path, made: Synthetic) -> pd.DataFrame:
    return evaluate(load([made.write(tmp_path / "s")]))


def made_of(limit: float, adaptive: float, **changed: object) -> Synthetic:
    variants = {"bare": Behaviour(0.1), "adaptive": Behaviour(adaptive), "limit": Behaviour(limit)}
    return exact(mpis={"mpich": variants}, comp_over_comm=(1.0,), **changed)


def test_the_best_interval_is_judged_at_the_point_of_the_others(tmp_path: Path) -> None:
    frame = of(tmp_path, exact(mpis={"mpich": LIMITED}, comp_over_comm=(1.0,)))
    row = metric(frame, "overlap_efficiency", "limit")
    assert row["value"] == pytest.approx(0.95, abs=1e-4)
    assert "every 2000 µs" in row["note"]
    assert frame["point"].nunique() == 1, "an interval is no point of its own"


def test_no_launch_is_judged_at_the_interval_that_it_chose(tmp_path: Path) -> None:
    """Each half is lucky at another interval: chosen and judged on the same launches, it would look perfect."""
    session = made_of(0.8, 0.8, wakes={500: 0.0, 2000: 0.0}).write(tmp_path / "s")
    for file in (session / "records").glob("*.limit.jsonl"):
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        lucky = (500, 2000)[lines[0]["header"]["context"]["repetition"] % 2]
        for line in lines[1:-1]:
            if line["point"]["wake_us"] == lucky:
                for part in ("total_s", "post_s", "comp_in_s", "wait_s"):
                    line["samples"][part] = [0.9 * value for value in line["samples"][part]]
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    row = metric(evaluate(load([session])), "overlap_efficiency", "limit")
    assert row["value"] == pytest.approx(0.8, abs=1e-3)
    assert "500 µs or 2000 µs" in row["note"]


def test_one_launch_cannot_be_judged(tmp_path: Path) -> None:
    session = Synthetic(mpis={"mpich": LIMITED}, comp_over_comm=(1.0,), launches=1).write(tmp_path / "s")
    row = metric(evaluate(load([session])), "overlap_efficiency", "limit")
    assert np.isnan(row["value"])
    assert (row["status"], row["reason"]) == ("skipped", ONE_LAUNCH)


def test_a_share_of_the_limit_is_paired_by_round(tmp_path: Path) -> None:
    """All launches of a round are slower or faster together: the share does not see it."""
    session = made_of(0.9, 0.81, launches=0).write(tmp_path / "s")
    made = made_of(0.9, 0.81)
    for repetition in range(6):
        part = made_of(0.9, 0.81, launches=1, bytes_per_s=made.bytes_per_s * (1 + repetition % 3)).write(tmp_path / "p")
        for file in (part / "records").glob("*.jsonl"):
            text = file.read_text().replace('"repetition": 0', f'"repetition": {repetition}')
            name = file.name.replace(".00", f".{repetition}0")
            text = text.replace(file.stem, name.removesuffix(".jsonl")).replace('"session": "p"', '"session": "s"')
            (session / "records" / name).write_text(text)
    row = metric(evaluate(load([session])), "overlap_efficiency", "adaptive")
    assert row["against_limit_value"] == pytest.approx(0.9, abs=1e-3)
    assert row["against_limit_low"] == pytest.approx(0.9, abs=1e-3)
    assert row["high"] - row["low"] > 0.2, "unpaired it is not known"


@pytest.mark.parametrize(("adaptive", "reached"), [(0.89, True), (0.80, False)])
def test_the_goal_is_stated_against_the_limit(tmp_path: Path, adaptive: float, reached: bool) -> None:
    variants = {"bare": Behaviour(0.1), "adaptive": Behaviour(adaptive, 1.05), "limit": Behaviour(0.9, 1.04)}
    made = Synthetic(mpis={"mpich": variants}, **ONE_POINT)  # type: ignore[arg-type]
    made.launch_spread = made.sample_spread = 0.001
    session = made.write(tmp_path / "s")
    frame = evaluate(load([session]))
    ((words, good),) = goals(frame)
    assert good is reached
    assert "both, 4 MB, comp/comm 1" in words
    assert main([str(session)]) == (0 if reached else 1)


@pytest.mark.parametrize(
    ("share", "more", "words"),
    [
        ((1.002, 0.949, 1.049), (0.022, 0.016, 0.040), ["cannot tell", "cannot tell"]),
        ((0.990, 0.960, 1.010), (0.010, 0.001, 0.019), ["reached", "reached"]),
        ((0.900, 0.850, 0.970), (0.050, 0.021, 0.090), ["missed", "missed"]),
    ],
)
def test_a_goal_is_missed_where_its_interval_says_so(
    tmp_path: Path, share: Sequence[float], more: Sequence[float], words: list[str]
) -> None:
    frame = of(tmp_path, made_of(0.9, 0.89, launches=6))
    for metric_of, numbers in {"overlap_efficiency": share, "compute_inflation": more}.items():
        here = (frame["metric"] == metric_of) & (frame["variant"] == "adaptive")
        frame.loc[here, [f"against_limit_{name}" for name in ("value", "low", "high")]] = numbers
    ((said, good),) = goals(frame)
    assert re.findall(r"\((reached|missed|cannot tell)", said) == words
    assert good is (words == ["reached", "reached"])


@pytest.mark.parametrize(
    ("launches", "stolen", "doubt"),
    [
        (3, 0.0, "3 of 3 rounds give a value and 6 are needed"),
        (6, 0.5, "% of the measured time"),
    ],
    ids=["three rounds", "disturbed"],
)
def test_too_few_rounds_and_a_disturbed_machine_reach_no_goal(
    tmp_path: Path, launches: int, stolen: float, doubt: str
) -> None:
    session = made_of(0.9, 0.89, launches=launches).write(tmp_path / "s")
    changed_points(session, "*.limit.jsonl", noise={"steal_s": stolen})
    frame = evaluate(load([session]))
    ((words, good),) = goals(frame)
    assert not good
    assert words.count("(cannot tell, points to reached: ") == 2
    assert doubt in words
    assert main([str(session)]) == 1
    assert f"That is not certain: {'' if launches == 3 else 'the hypervisor took'}" in verdict(frame).text()


def test_rounds_that_say_nothing_are_counted(tmp_path: Path) -> None:
    session = made_of(0.9, 0.89, launches=8).write(tmp_path / "s")
    for file in sorted((session / "records").glob("*.limit.jsonl"))[-2:]:
        changed_points(session, file.name, status="timeout", samples={}, reason="hung")
    ((words, good),) = goals(evaluate(load([session])))
    assert good
    assert "95 % interval of 6 samples, 6 of 8 rounds" in words


def test_the_limit_stands_in_the_verdict_and_in_the_tables(tmp_path: Path) -> None:
    frame = of(tmp_path, made_of(0.9, 0.81, launches=6))
    assert "The engine (adaptive) reaches 0.90 (0.90 to 0.90, 6 of 6 rounds) of what a minimal program without MPI" in (
        verdict(frame).text()
    )
    assert "That is not certain" not in verdict(frame).text()
    (table,) = results(frame)
    place = table["columns"].index("of the limit")
    assert {row[1]: row[place] for row in table["rows"]} == {
        "bare": "0.11 (0.11 to 0.11)",
        "adaptive": "0.90 (0.90 to 0.90)",
        "limit": "–",
    }


def test_points_at_which_the_limit_was_not_measured_miss_nothing(tmp_path: Path) -> None:
    session = made_of(0.9, 0.8).write(tmp_path / "s")
    other = exact(mpis={"mpich": {"bare": Behaviour(0.1)}}, comp_over_comm=(2.0,)).write(tmp_path / "o")
    for file in (other / "records").glob("*.jsonl"):
        text = file.read_text().replace('"session": "o"', '"session": "s"')
        (session / "records" / f"more.{file.name}").write_text(text)
    frame = evaluate(load([session]))
    assert set(frame.loc[frame["comp_over_comm"] == 2.0, "variant"]) == {"bare", "adaptive"}


def test_a_session_that_is_not_there_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["nowhere"])
    assert end.value.code == 2
    assert capsys.readouterr().err.startswith("limit: nowhere: ")
