# SPDX-License-Identifier: BSD-3-Clause
"""What the records of a race become: scores, failures, what was not run, and the evidence of a value."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from analysis.errors import UsageError
from analysis.records.load import load
from analysis.records.read import Quantity
from analysis.tests.synthetic import Behaviour
from analysis.tests.tuning_races import ARMS, BEHAVIOURS, confirmed, race_session
from analysis.tuning import (
    decide,
    document,
    measured,
    step,
    verdict,
)
from analysis.tuning.measured import DEFAULT, TUNED


def test_records_become_scores_against_the_reference_of_the_round(tmp_path: Path) -> None:
    found = measured.read(race_session(tmp_path / "s", BEHAVIOURS))
    assert set(found.scores) == set(ARMS) and not found.failures
    for arm, behaviour in BEHAVIOURS.items():
        for turn in (0, 1):
            assert found.plain[arm][turn] == pytest.approx(behaviour.efficiency, abs=0.05)
    assert found.scores["s002"][0].bounds["inflation"] == pytest.approx(1.2, abs=0.05)
    names = set(load([tmp_path / "s"]).launches["variant"])
    assert names == {"adaptive", "bare", "adaptive (s002)"}, "what ran under another MPI is another variant"


def test_a_launch_that_failed_counts_for_nothing_and_says_why(tmp_path: Path) -> None:
    arms = {**BEHAVIOURS, "s001": Behaviour(0.8, fails="failed")}
    found = measured.read(race_session(tmp_path / "s", arms))
    assert found.failures == {"s001": "made up"} and "s001" not in found.scores
    then = step.next_(found, seed=1)
    assert "s001" not in then.alive and then.state.standings["s001"].out == "failed: made up"


def changed_end(file: Path, **end: Any) -> str:
    """The record with another end line."""
    *lines, last = file.read_text().splitlines()
    return "\n".join([*lines, json.dumps({"end": json.loads(last)["end"] | end})]) + "\n"


def test_a_launch_that_hung_counts_in_the_mean_and_not_in_how_long_one_takes(tmp_path: Path) -> None:
    folder = race_session(tmp_path / "s", BEHAVIOURS)
    for file in (folder / "records").iterdir():
        file.write_text(changed_end(file, launch_s=81.0 if file.name == "x.0.s001.jsonl" else 1.0))
    found = measured.read(folder)
    assert (found.seconds, found.with_hangs) == (1.0, 11.0)


def test_a_launch_that_ends_badly_behind_its_last_point_failed(tmp_path: Path) -> None:
    folder = race_session(tmp_path / "s", BEHAVIOURS)
    crash = {"status": "failed", "reason": "exit status 139; last words: MPI_Finalize"}
    for arm in ("s001", DEFAULT):
        file = folder / "records" / f"x.1.{arm}.jsonl"
        file.write_text(changed_end(file, **crash))
    cut = folder / "records" / "x.1.s002.jsonl"
    cut.write_text(changed_end(cut, status="interrupted", reason="the job was told to stop"))
    found = measured.read(folder)
    assert found.failures == {"s001": crash["reason"], DEFAULT: crash["reason"]}
    assert found.failed_in == {"s001": 1, DEFAULT: 1} and set(found.scores["s001"]) == {0}


def test_a_later_run_makes_up_for_a_failure_of_the_default_and_of_no_setting(tmp_path: Path) -> None:
    folder = race_session(tmp_path / "s", BEHAVIOURS)
    for arm in ("s001", DEFAULT):
        file = folder / "records" / f"x.0.{arm}.jsonl"
        file.with_suffix(".r1.jsonl").write_text(file.read_text())
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        for line in lines[1:-1]:
            line |= {"status": "failed", "reason": "wrong data", "samples": {}}
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
        file.write_text(changed_end(file, status="failed", reason="wrong data"))
    assert measured.read(folder).failures == {"s001": "wrong data"}


@pytest.mark.parametrize(("objective", "lacking"), [("efficiency", "efficiency and inflation"), ("time", "inflation")])
def test_what_has_no_value_is_said_to_have_none(objective: str, lacking: str, tmp_path: Path) -> None:
    found = measured.read(race_session(tmp_path / "s", BEHAVIOURS, comp=0.0, objective=objective))
    assert not found.scores
    assert found.failures[DEFAULT] == f"no value of {lacking} at its points: a time in the formula is not above 0"


def test_what_a_job_never_came_to_puts_nobody_out_and_is_told(tmp_path: Path) -> None:
    arms = {**BEHAVIOURS, "s001": Behaviour(0.8, fails="failed")}
    folder = race_session(tmp_path / "s", arms)
    for turn, why in enumerate(("made up", "not run: a node of the batch job died")):
        file = folder / "records" / f"x.{turn}.s001.jsonl"
        file.write_text(file.read_text().replace("made up", why))
    assert measured.read(folder).not_run == {"x.1.s001": "a node of the batch job died"}
    assert measured.read(folder).failures == {"s001": "made up"}
    file = folder / "records" / "x.0.s001.jsonl"
    file.write_text(file.read_text().replace("made up", "not run: the batch job reached its time limit"))
    found = measured.read(folder)
    assert not found.failures and "s001" not in found.scores
    for name in ("x.0.s001", "x.1.s001"):  # --resume: another job measured them
        good = folder / "records" / f"{name.replace('s001', DEFAULT)}.jsonl"
        text = good.read_text().replace(f'"{good.stem}"', f'"{name}"').replace('"arm": "default"', '"arm": "s001"')
        (folder / "records" / f"{name}.r1.jsonl").write_text(text)
    again = measured.read(folder)
    assert not again.not_run and not again.failures and set(again.scores["s001"]) == {0, 1}


def test_each_value_of_a_winner_has_its_evidence(tmp_path: Path) -> None:
    folder = race_session(tmp_path / "s", {**BEHAVIOURS, TUNED: Behaviour(0.8, 1.02)})
    for turn in range(2):
        file = folder / "records" / f"x.{turn}.{TUNED}.jsonl"
        *lines, last = file.read_text().splitlines()
        end = json.loads(last)
        for rank in end["end"]["ranks"]:
            rank["engine"] = {"settings": {"burst": 20, "strict": turn == 1}}
        file.write_text("\n".join([*lines, json.dumps(end)]) + "\n")
    found = measured.read(folder)
    values = {"burst": "20", "strict": "true", "rest_us": "0", "UCX_RNDV_THRESH": "8192"}
    taken = {"UCX_RNDV_THRESH": (True, "UCX prints it"), "UCX_TLS": (False, "")}
    shown = {name: why.removesuffix(document.NO_SHARE) for name, why in document.of(found, values, taken).items()}
    assert shown == {
        "burst": "the engine's reports, 4 processes of fresh launches: 20",
        "strict": "the engine's reports, 4 processes of fresh launches: false and true",
        "rest_us": "no report of the engine names it",
        "UCX_RNDV_THRESH": "UCX prints it",
    }
    told = replace(verdict.of(confirmed(0.2)), values={"burst": "20"})
    assert f"| burst | 20 | engine | {shown['burst']} |" in document.document(found, told, {})


def test_a_recorded_quantity_can_be_the_objective(tmp_path: Path) -> None:
    folder = race_session(tmp_path / "s", BEHAVIOURS, objective="time", bounds={})
    found = measured.read(folder)
    gains = decide.differences("s001", DEFAULT, found.scores)
    assert min(gains) > 0, "less time is better"
    wrong = race_session(tmp_path / "t", BEHAVIOURS, objective="colour", bounds={})
    with pytest.raises(UsageError, match=r"records no such quantity.*total_s"):
        measured.read(wrong)


def test_words_that_cannot_be_measured(tmp_path: Path) -> None:
    measured.check_words("efficiency", {"inflation": 1.05}, overlap=True)
    with pytest.raises(UsageError, match=r"no such metric.*inflation"):
        measured.check_words("efficiency", {"heat": 1.0}, overlap=True)
    with pytest.raises(UsageError, match="does not measure: take --objective time"):
        measured.check_words("efficiency", {}, overlap=False)
    for word in ("eficiency", "total_s"):  # neither is tuned for something else instead
        with pytest.raises(UsageError, match=rf"--objective {word}: beside --subject-to it is time or a metric"):
            measured.check_words(word, {"inflation": 1.05}, overlap=True)
    measured.check_words("time", {"inflation": 1.05}, overlap=True)
    less, neither = Quantity("s", "lower"), Quantity("1", "neither")
    recorded = {"total_s": less, "remainder_s": less, "polls": neither}
    for word in ("total_s", "time", "efficiency"):
        measured.check_recorded(word, recorded, overlap=True)
    for word in ("eficiency", "polls", "remainder_s", "mflops"):
        with pytest.raises(UsageError, match=rf"--objective {word}: .*There are: time, total_s, efficiency, inflation"):
            measured.check_recorded(word, recorded, overlap=True)
    with pytest.raises(UsageError, match=r"There are: time, total_s\.$"):
        measured.check_recorded("colour", recorded, overlap=False)
    with pytest.raises(UsageError, match=r"no session of \./bench tune"):
        measured.of({"session": tmp_path.name, "request": {}})


def test_an_acknowledgement_that_is_slow_by_itself_makes_no_setting_better(tmp_path: Path) -> None:
    """As with FI_TCP_NODELAY=0: alone it took longer than the whole step, in which it had come meanwhile."""
    folder = race_session(tmp_path / "s", BEHAVIOURS)
    before = measured.read(folder).plain["s001"]
    for file in (folder / "records").glob("*.s001.jsonl"):
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        for line in lines:
            if samples := line.get("samples"):
                total = samples["total_s"]
                samples |= {"post_s": [0.0 for _ in total], "ack_s": [2 * one for one in total]}
                samples["wait_s"] = [whole - part for whole, part in zip(total, samples["comp_in_s"], strict=True)]
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert measured.read(folder).plain["s001"] == pytest.approx(before, abs=0.02)
