# SPDX-License-Identifier: BSD-3-Clause
"""What the records of a search become (scores, failures, what was not run, the evidence of a value), what it has shown,
and how long it takes to find out."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from analysis.compare.matched_points import Choice
from analysis.compare.matched_points import Measured as Point
from analysis.errors import UsageError
from analysis.records.load import load
from analysis.records.read import Quantity
from analysis.tests.synthetic import Behaviour, changed_points, edited
from analysis.tests.tuning_searches import BEHAVIOURS, SIDES, confirmed, made, search_session
from analysis.tuning import confirmation, document, elimination, figures, search_records
from analysis.tuning.search_records import (
    BARE,
    DEFAULT,
    ENGINE_ALONE,
    MPI_ALONE,
    OLD,
    TUNED,
    Axis,
    Measured,
    Score,
    SearchPlan,
)


def test_records_become_scores_against_the_reference_of_the_round(tmp_path: Path) -> None:
    found = search_records.read(search_session(tmp_path / "s", BEHAVIOURS))
    assert set(found.scores) == set(SIDES) and not found.failures
    for side, behaviour in BEHAVIOURS.items():
        for round_ in (0, 1):
            assert found.plain[side][round_] == pytest.approx(behaviour.efficiency, abs=0.05)
    assert found.scores["s002"][0].bounds["inflation"] == pytest.approx(1.2, abs=0.05)
    names = set(load([tmp_path / "s"]).launches["variant"])
    assert names == {"adaptive", "bare", "adaptive (s002)"}, "what ran under another MPI is another variant"


def test_a_launch_that_failed_counts_for_nothing_and_says_why(tmp_path: Path) -> None:
    sides = {**BEHAVIOURS, "s001": Behaviour(0.8, fails="failed")}
    found = search_records.read(search_session(tmp_path / "s", sides))
    assert found.failures == {"s001": "made up"} and "s001" not in found.scores
    then = document.next_(found, seed=1)
    assert "s001" not in then.alive and then.state.standings["s001"].out == "failed: made up"


def change_end(folder: Path, files: str, **end: Any) -> None:
    for lines in edited(folder, files):
        lines[-1]["end"] |= end


def test_a_launch_that_hung_counts_in_the_mean_and_not_in_how_long_one_takes(tmp_path: Path) -> None:
    folder = search_session(tmp_path / "s", BEHAVIOURS)
    change_end(folder, "*", launch_s=1.0)
    change_end(folder, "x.0.s001.jsonl", launch_s=81.0)
    found = search_records.read(folder)
    assert (found.seconds, found.with_hangs) == (1.0, 11.0)


def test_a_launch_that_ends_badly_behind_its_last_point_failed(tmp_path: Path) -> None:
    folder = search_session(tmp_path / "s", BEHAVIOURS)
    crash = {"status": "failed", "reason": "exit status 139; last words: MPI_Finalize"}
    for side in ("s001", DEFAULT):
        change_end(folder, f"x.1.{side}.jsonl", **crash)
    change_end(folder, "x.1.s002.jsonl", status="interrupted", reason="the job was told to stop")
    found = search_records.read(folder)
    assert found.failures == {"s001": crash["reason"], DEFAULT: crash["reason"]}
    assert found.failed_in == {"s001": 1, DEFAULT: 1} and set(found.scores["s001"]) == {0}


def test_a_later_run_makes_up_for_a_failure_of_the_default_and_of_no_setting(tmp_path: Path) -> None:
    folder = search_session(tmp_path / "s", BEHAVIOURS)
    for side in ("s001", DEFAULT):
        file = folder / "records" / f"x.0.{side}.jsonl"
        file.with_suffix(".r1.jsonl").write_text(file.read_text())
        failed: dict[str, Any] = {"status": "failed", "reason": "wrong data"}
        changed_points(folder, file.name, samples={}, **failed)
        change_end(folder, file.name, **failed)
    assert search_records.read(folder).failures == {"s001": "wrong data"}


@pytest.mark.parametrize(("objective", "lacking"), [("efficiency", "efficiency and inflation"), ("time", "inflation")])
def test_what_has_no_value_is_said_to_have_none(objective: str, lacking: str, tmp_path: Path) -> None:
    found = search_records.read(search_session(tmp_path / "s", BEHAVIOURS, comp=0.0, objective=objective))
    assert not found.scores
    assert found.failures[DEFAULT] == f"no value of {lacking} at its points: a time in the formula is not above 0"


def test_what_a_job_never_came_to_puts_nobody_out_and_is_told(tmp_path: Path) -> None:
    sides = {**BEHAVIOURS, "s001": Behaviour(0.8, fails="failed")}
    folder = search_session(tmp_path / "s", sides)
    for round_, why in enumerate(("made up", "not run: a node of the batch job died")):
        file = folder / "records" / f"x.{round_}.s001.jsonl"
        file.write_text(file.read_text().replace("made up", why))
    assert search_records.read(folder).not_run == {"x.1.s001": "a node of the batch job died"}
    assert search_records.read(folder).failures == {"s001": "made up"}
    file = folder / "records" / "x.0.s001.jsonl"
    file.write_text(file.read_text().replace("made up", "not run: the batch job reached its time limit"))
    found = search_records.read(folder)
    assert not found.failures and "s001" not in found.scores
    for name in ("x.0.s001", "x.1.s001"):  # --resume: another job measured them
        good = folder / "records" / f"{name.replace('s001', DEFAULT)}.jsonl"
        text = good.read_text().replace(f'"{good.stem}"', f'"{name}"').replace('"side": "default"', '"side": "s001"')
        (folder / "records" / f"{name}.r1.jsonl").write_text(text)
    again = search_records.read(folder)
    assert not again.not_run and not again.failures and set(again.scores["s001"]) == {0, 1}


def test_each_value_of_a_winner_has_its_evidence(tmp_path: Path) -> None:
    folder = search_session(tmp_path / "s", {**BEHAVIOURS, TUNED: Behaviour(0.8, 1.02)})
    for round_ in range(2):
        file = folder / "records" / f"x.{round_}.{TUNED}.jsonl"
        *lines, last = file.read_text().splitlines()
        end = json.loads(last)
        for rank in end["end"]["ranks"]:
            rank["engine"] = {"settings": {"burst": 20, "strict": round_ == 1}}
        file.write_text("\n".join([*lines, json.dumps(end)]) + "\n")
    found = search_records.read(folder)
    values = {"burst": "20", "strict": "true", "rest_us": "0", "UCX_RNDV_THRESH": "8192"}
    taken = {"UCX_RNDV_THRESH": (True, "UCX prints it"), "UCX_TLS": (False, "")}
    shown = {name: why.removesuffix(document.NO_SHARE) for name, why in document.of(found, values, taken).items()}
    assert shown == {
        "burst": "the engine's reports, 4 processes of fresh launches: 20",
        "strict": "the engine's reports, 4 processes of fresh launches: false and true",
        "rest_us": "no report of the engine names it",
        "UCX_RNDV_THRESH": "UCX prints it",
    }
    told = replace(confirmation.of(confirmed(0.2)), values={"burst": "20"})
    assert f"| burst | 20 | engine | {shown['burst']} |" in document.document(found, told, {})


def test_a_recorded_quantity_can_be_the_objective(tmp_path: Path) -> None:
    folder = search_session(tmp_path / "s", BEHAVIOURS, objective="time", bounds={})
    found = search_records.read(folder)
    gains = elimination.differences("s001", DEFAULT, found.scores)
    assert min(gains) > 0, "less time is better"
    wrong = search_session(tmp_path / "t", BEHAVIOURS, objective="colour", bounds={})
    with pytest.raises(UsageError, match=r"records no such quantity.*total_s"):
        search_records.read(wrong)


def test_words_that_cannot_be_measured(tmp_path: Path) -> None:
    search_records.check_words("efficiency", {"inflation": 1.05}, overlap=True)
    with pytest.raises(UsageError, match=r"no such metric.*inflation"):
        search_records.check_words("efficiency", {"heat": 1.0}, overlap=True)
    with pytest.raises(UsageError, match="does not measure: take --objective time"):
        search_records.check_words("efficiency", {}, overlap=False)
    for word in ("eficiency", "total_s"):  # neither is tuned for something else instead
        with pytest.raises(UsageError, match=rf"--objective {word}: beside --subject-to it is time or a metric"):
            search_records.check_words(word, {"inflation": 1.05}, overlap=True)
    search_records.check_words("time", {"inflation": 1.05}, overlap=True)
    less, neither = Quantity("s", "lower"), Quantity("1", "neither")
    recorded = {"total_s": less, "remainder_s": less, "polls": neither}
    for word in ("total_s", "time", "efficiency"):
        search_records.check_recorded(word, recorded, overlap=True)
    for word in ("eficiency", "polls", "remainder_s", "mflops"):
        with pytest.raises(UsageError, match=rf"--objective {word}: .*There are: time, total_s, efficiency, inflation"):
            search_records.check_recorded(word, recorded, overlap=True)
    with pytest.raises(UsageError, match=r"There are: time, total_s\.$"):
        search_records.check_recorded("colour", recorded, overlap=False)
    with pytest.raises(UsageError, match=r"no session of \./bench tune"):
        search_records.of({"session": tmp_path.name, "request": {}})


def test_an_acknowledgement_that_is_slow_by_itself_makes_no_setting_better(tmp_path: Path) -> None:
    """As with FI_TCP_NODELAY=0: alone it took longer than the whole step, in which it had come meanwhile."""
    folder = search_session(tmp_path / "s", BEHAVIOURS)
    before = search_records.read(folder).plain["s001"]
    for lines in edited(folder, "*.s001.jsonl"):
        for line in lines:
            if samples := line.get("samples"):
                total = samples["total_s"]
                samples |= {"post_s": [0.0 for _ in total], "ack_s": [2 * one for one in total]}
                samples["wait_s"] = [whole - part for whole, part in zip(total, samples["comp_in_s"], strict=True)]
    assert search_records.read(folder).plain["s001"] == pytest.approx(before, abs=0.02)


SEARCH = {
    "variant": "adaptive", "objective": "time", "bounds": {}, "method": "grid", "at_once": 6,
    "block_rounds": 6, "confirm": 12, "points": [], "untuned": [], "space": [], "contenders": [], "blocks": [],
}  # fmt: skip


def test_why_a_winner_is_not_confirmed_is_said_as_it_is() -> None:
    search = confirmed(0.2)
    alone = {side: rounds for side, rounds in search.scores.items() if side != OLD}
    lost = replace(search, scores=alone, failures={OLD: "exit status 3."})
    sentence = confirmation.of(lost).sentence
    assert "no round has both it and the default, a launch of the default failed: exit status 3." in sentence
    assert "nan" not in sentence + document.document(lost, confirmation.of(lost), {})
    few = {round_: one for round_, one in search.scores[OLD].items() if round_ < 9}
    fewer = replace(search, scores={**search.scores, OLD: few}, failures={BARE: "it hangs"})
    told = confirmation.of(fewer).sentence
    assert "not shown at the level of 1 %, a launch of the reference failed: it hangs (efficiency +0." in told
    timed = replace(fewer, asked=replace(fewer.asked, objective="time", bounds={}))
    assert "reference" not in confirmation.of(timed).sentence, "no time is taken against it"


def test_where_the_default_fails_late_in_a_confirmation_the_rounds_before_that_decide() -> None:
    search = confirmed(0.2)
    ends = {OLD: 17, TUNED: 18}  # the default failed in the last round
    scores = {side: {round_: one for round_, one in rounds.items() if round_ < ends.get(side, 99)}
              for side, rounds in search.scores.items()}  # fmt: skip
    told = confirmation.of(replace(search, scores=scores, failures={OLD: "exit status 3."}))
    assert told.confirmed and told.rounds == 11
    assert told.sentence.endswith("not tuned, a launch of the default failed: exit status 3.")
    winner = confirmation.of(replace(search, scores=scores, failures={TUNED: "exit status 3."}))
    assert not winner.confirmed and "a launch failed: exit status 3" in winner.sentence


def test_the_interval_of_a_confirmation_holds_over_all_looks_as_its_level_does() -> None:
    search = confirmed(0.2)
    told = confirmation.of(search)
    once = confirmation.of(replace(search, asked=replace(search.asked, looks=1)))
    assert told.gain and once.gain and told.gain.low < once.gain.low < once.gain.high < told.gain.high
    (cell,) = [cell for cell in told.cells if cell.side == TUNED]
    assert cell.gain == told.gain
    text = document.document(search, told, {})
    assert document.AFRESH in text and document.SELECTED in text


def test_where_the_default_leads_what_the_best_other_reached_is_said() -> None:
    told = confirmation.of(made({DEFAULT: 0.0, "s001": -0.2, "s002": -0.1})).sentence
    assert "none led. The best of the others is s002 (burst=1, UCX_RNDV_THRESH=8192): efficiency -0.1" in told
    failed = confirmation.of(made({DEFAULT: 0.0, "s001": -0.2, "s002": -0.1}, failures={"s002": "it hangs"})).sentence
    assert "The best of the others is s001 (burst=20)" in failed


def test_where_the_default_breaks_a_bound_the_best_that_keeps_it_leads_and_is_confirmed_by_it() -> None:
    heavy = {DEFAULT: 1.08, "s001": 1.02, "s002": 1.02}
    worse = made({DEFAULT: 0.0, "s001": -0.1, "s002": -0.2}, bounds=heavy)
    assert elimination.state(worse).leader == "s001", "the default may not be taken"
    fresh = confirmed(-0.1, inflation=1.02, search=worse, of_default=1.08)
    told = confirmation.of(fresh)
    assert told.confirmed and told.values == {"burst": "20"}
    assert "The default breaks inflation<=1.05 (1.08). s001" in told.sentence
    assert "keeps inflation<=1.05 (1.02): efficiency -0.1" in told.sentence
    rounds = {round_: Score(0.0, {"inflation": 1.04 if round_ % 3 else 1.06}) for round_ in range(6, 18)}
    close = replace(fresh, scores={**fresh.scores, TUNED: rounds})
    assert "it is not shown to keep inflation<=1.05" in confirmation.of(close).sentence
    assert confirmation.undecided(close), "it keeps the bound as far as is known"
    assert not confirmation.of(confirmed(-0.1, search=worse)).confirmed, (
        "there the default keeps the bound, so the gain decides"
    )
    assert confirmation.of(confirmed(0.1, search=worse)).confirmed
    none = confirmation.of(made({DEFAULT: 0.0, "s001": 0.1}, bounds={DEFAULT: 1.08, "s001": 1.2}))
    assert none.sentence.startswith("The default breaks inflation<=1.05 (1.08), and of 1 settings in 6 rounds none")


def test_a_bound_that_the_winner_is_on_is_not_called_kept() -> None:
    """Half of the launches lie below it and half above."""
    bounded = made({DEFAULT: 0.0, "s001": 0.2}, bounds={DEFAULT: 1.0, "s001": 1.0})
    search = confirmed(0.2, search=bounded)
    on_it = {round_: replace(one, bounds={"inflation": 1.05 + 0.01 * (-1) ** round_ - 1e-4 * round_})
             for round_, one in search.scores[TUNED].items()}  # fmt: skip
    close = confirmation.of(replace(search, scores={**search.scores, TUNED: on_it}))
    assert confirmation.of(search).confirmed and not close.confirmed
    assert "it is not shown to keep inflation<=1.05" in close.sentence


SMALL, LARGE = '{"size_bytes": 65536}', '{"size_bytes": 4194304}'


def test_a_winner_that_loses_at_a_point_is_a_trade() -> None:
    """0.30 and 0.90 become 0.75 and 0.55: better in the mean, and worse at one size."""
    search = confirmed(0.05)
    each = {OLD: {SMALL: 0.30, LARGE: 0.90}, TUNED: {SMALL: 0.75, LARGE: 0.55}}
    scores = {
        side: {round_: replace(one, points=each[side]) for round_, one in search.scores[side].items()} for side in each
    }
    told = confirmation.of(replace(search, scores={**search.scores, **scores}))
    assert told.confirmed and "is a trade: efficiency +0.05" in told.sentence
    assert "; at 64 KB efficiency +0.450" in told.sentence and "; loses at 4 MB efficiency -0.350" in told.sentence
    better = {round_: replace(one, points={SMALL: 0.75, LARGE: 0.95}) for round_, one in scores[TUNED].items()}
    good = confirmation.of(replace(search, scores={**search.scores, **scores, TUNED: better})).sentence
    assert "beats the default" in good and "at 4 MB efficiency +0.050" in good


def test_a_program_whose_results_nobody_checks_is_said_to_be_unverified() -> None:
    search = confirmed(0.2)
    open_ = replace(search, asked=replace(search.asked, verified=False))
    assert confirmation.UNVERIFIED not in confirmation.of(search).sentence
    assert confirmation.of(open_).sentence.endswith(confirmation.UNVERIFIED)
    assert confirmation.UNVERIFIED in document.document(open_, confirmation.of(open_), {})
    program = {"command": ["./app"], "folder": "/", "check": "", "case": ""}
    shown = {"session": "s", "request": {"search": SEARCH, "program": program}}
    assert not search_records.of(shown).verified
    for known in (None, {**program, "check": "energy.*"}):
        assert search_records.of({**shown, "request": {"search": SEARCH, "program": known}}).verified


def test_the_front_has_no_setting_that_failed_and_holds_both_against_the_default_of_the_same_rounds() -> None:
    search = made({DEFAULT: 0.0, "s001": 0.2, "s002": -0.1}, bounds={DEFAULT: 1.0, "s001": 1.1, "s002": 1.0}, rounds=12)
    front = confirmation.front(replace(search, failures={"s001": "it hangs"}))
    assert {place.name for place in front} == {DEFAULT, "s002"}
    hard = {  # where s002 ran every launch was worse, the default's as well
        side: {round_: Score(one.value - 5 * (round_ < 6), {"inflation": one.bounds["inflation"] + (round_ < 6)})
              for round_, one in rounds.items() if side != "s002" or round_ < 6}
        for side, rounds in search.scores.items()
    }  # fmt: skip
    found = replace(search, scores=hard)
    places = {place.name: place for place in confirmation.front(found)}
    assert places["s002"].gain.value == pytest.approx(-0.1, abs=0.01)
    assert places["s002"].cost == pytest.approx(places[DEFAULT].cost, abs=0.01)
    alone = confirmation.front(search)
    assert {place.name for place in alone if place.breaks} == {"s001"}
    assert [row[3] for row in document.front(search)[1] if row[0] == "s001"] == ["1.1, which breaks a bound"]
    (drawn,) = [figure for figure in figures.draw(search) if figure.name == "tuning_pareto"]
    assert "breaks a bound" in drawn.caption
    assert set(drawn.points.loc[drawn.points["breaks"], "setting"]) == {"s001"}


def test_of_several_values_it_is_said_whose_share_was_not_measured() -> None:
    search = confirmed(0.2)
    space = (Axis("burst", ("default", "1")), Axis("nice", ("default", "5")), Axis("UCX_TLS", ("default", "tcp"), True))
    search = replace(search, asked=replace(search.asked, space=space))
    alone = replace(search, scores={**search.scores, ENGINE_ALONE: search.scores[OLD], MPI_ALONE: search.scores[OLD]})
    burst, nice, tls = {"burst": "1"}, {"nice": "5"}, {"UCX_TLS": "tcp"}

    def unmeasured(found: Measured, values: dict[str, str]) -> list[str]:
        shown = document.of(found, values, {"UCX_TLS": (True, "UCX prints it")})
        return [name for name, why in shown.items() if why.endswith(document.NO_SHARE)]

    assert unmeasured(search, burst) == [], "all of the gain is its own"
    assert unmeasured(search, burst | nice) == ["burst", "nice"]
    assert unmeasured(alone, burst | tls) == []
    assert unmeasured(search, burst | tls) == ["burst", "UCX_TLS"], "those launches were not made"
    assert unmeasured(alone, burst | nice | tls) == ["burst", "nice"]


SIDE_OF = {"a": DEFAULT, "b": "s001"}
TIME, RATE = "total_s", "mflops"


def point(by: str, launch: str, **values: float) -> Point:
    """A point of one launch that is judged by one of these quantities."""
    signs = {TIME: 1, RATE: -1}
    choices = {name: Choice(signs[name], {launch: np.array([value])}) for name, value in values.items()}
    return Point(choices=choices).by(by)


def scores(monkeypatch: pytest.MonkeyPatch, points: dict[tuple[str, str], Point]) -> dict[str, Any]:
    """`points`: by variant and point."""
    made = {("study", "here", "mpich", *key): one for key, one in points.items()}
    monkeypatch.setattr(search_records, "measured", lambda _: made)
    records: Any = SimpleNamespace(points=[1])
    return search_records._by_quantity(records, SearchPlan(search_records.TIME, ()), SIDE_OF)


def test_every_setting_is_judged_by_what_the_default_is_judged_by(monkeypatch: pytest.MonkeyPatch) -> None:
    found = scores(
        monkeypatch,
        {
            ("adaptive (s001)", "{}"): point(RATE, "b", total_s=2.0, mflops=5.0),
            ("adaptive", "{}"): point(TIME, "a", total_s=4.0, mflops=7.0),
        },
    )
    assert {launch: plain for launch, (_, plain) in found.items()} == pytest.approx({"a": 4.0, "b": 2.0})
    assert found["b"][0].value - found["a"][0].value == pytest.approx(math.log(2))


def test_points_by_different_quantities_are_each_turned_so_that_more_is_better(monkeypatch: pytest.MonkeyPatch) -> None:
    found = scores(
        monkeypatch,
        {
            ("adaptive", "1"): point(TIME, "a", total_s=4.0),
            ("adaptive", "2"): point(RATE, "a", mflops=2.0),
            ("adaptive (s001)", "1"): point(TIME, "b", total_s=4.0),
            ("adaptive (s001)", "2"): point(RATE, "b", mflops=8.0),
        },
    )
    assert found["b"][0].value - found["a"][0].value == pytest.approx(math.log(4) / 2)


def test_a_launch_that_lacks_the_quantity_at_a_point_has_no_score(monkeypatch: pytest.MonkeyPatch) -> None:
    found = scores(
        monkeypatch,
        {
            ("adaptive", "1"): point(TIME, "a", total_s=4.0),
            ("adaptive", "2"): point(TIME, "a", total_s=9.0),
            ("adaptive (s001)", "1"): point(TIME, "b", total_s=1.0),
            ("adaptive (s001)", "2"): point(RATE, "b", mflops=8.0),
        },
    )
    assert set(found) == {"a"}
