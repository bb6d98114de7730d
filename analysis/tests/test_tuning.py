# SPDX-License-Identifier: BSD-3-Clause
"""A search: who goes on, what is tried next, what is confirmed; on made-up measurements whose truth is known."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analysis.figures.render import save
from analysis.statistics.ranks import Middle
from analysis.tests import simulated_gates as gates
from analysis.tests.tuning_searches import BEHAVIOURS, SIDES, SPACE, confirmed, made, search_session
from analysis.tuning import confirmation, document, elimination, figures, proposals, search_records
from analysis.tuning.search_records import DEFAULT, OLD, REFERENCE, TUNED, Axis, Block, Score, Tried


def test_who_is_shown_to_be_worse_than_the_leader_is_out_with_the_reason() -> None:
    found = elimination.state(made({DEFAULT: 0.0, "s001": 0.2, "s002": -0.1}))
    assert (found.leader, found.alive) == ("s001", ["s001"])
    assert found.standings["s001"].gain.value == pytest.approx(0.2, abs=0.01)
    assert found.standings["s002"].out.startswith("worse than s001 in 6 rounds")


@pytest.mark.parametrize(("settings", "rounds"), [(1, 4), (6, 6), (7, 7), (12, 7), (40, 9)])
def test_with_any_number_of_settings_the_first_block_can_put_settings_out(settings: int, rounds: int) -> None:
    names = [f"s{number:03d}" for number in range(settings)]
    for more in (0, -1):
        search = made({DEFAULT: 0.0, **dict.fromkeys(names, -0.1)}, rounds=rounds + more)
        found = elimination.state(replace(search, asked=replace(search.asked, contenders={key: {} for key in names})))
        assert all(found.standings[name].out.startswith("worse than") for name in names) is (more == 0)
    assert elimination.fewest_rounds(settings) == rounds


def test_where_nothing_is_better_the_default_leads() -> None:
    found = elimination.state(made({DEFAULT: 0.0, "s001": -0.2, "s002": -0.1}))
    assert (found.leader, list(found.alive)) == (DEFAULT, [])
    told = confirmation.of(made({DEFAULT: 0.0, "s001": -0.2, "s002": -0.1}))
    assert not told.confirmed and told.sentence.startswith("Nothing beats the default") and not told.values


def test_a_bound_that_is_broken_puts_out_though_the_objective_is_best() -> None:
    bounds = {DEFAULT: 1.0, "s001": 1.2, "s002": 1.04}
    found = elimination.state(made({DEFAULT: 0.0, "s001": 0.3, "s002": 0.1}, bounds=bounds))
    assert found.leader == "s002"
    assert found.standings["s001"].out == "inflation is 1.2 and may be 1.05 at most"


def test_what_fails_is_out_and_named() -> None:
    failed = {"s001": "exit status 134; last words: UCX ERROR"}
    found = elimination.state(made({DEFAULT: 0.0, "s001": 0.3, "s002": 0.1}, failures=failed))
    assert found.leader == "s002" and found.standings["s001"].out == f"failed: {failed['s001']}"


def test_who_had_its_rounds_without_leading_makes_room() -> None:
    one = made({DEFAULT: 0.0, "s001": 0.001, "s002": 0.0009}, rounds=18)
    noise = np.random.default_rng(2)
    scores = {
        side: {round_: Score(value.value + noise.normal(0, 0.1)) for round_, value in rounds.items()}
        for side, rounds in one.scores.items()
    }
    blocks = tuple(Block(SIDES, 6, 6 * number) for number in range(3))
    found = elimination.state(replace(one, scores=scores, asked=replace(one.asked, blocks=blocks)))
    (tired,) = [standing for standing in found.standings.values() if standing.out]
    assert "not shown to be better" in tired.out or "worse than" in tired.out
    assert tired.name != found.leader


def test_only_fresh_rounds_confirm_a_winner() -> None:
    told = confirmation.of(confirmed(0.2))
    assert told.confirmed and told.values == {"burst": "20"} and told.rounds == 12
    assert "s001, the best of 2 settings in 6 rounds, beats the default: efficiency +0.2" in told.sentence
    again = confirmation.of(confirmed(0.0))
    assert not again.confirmed and not again.values and "its gain is not shown at the level of 1 %" in again.sentence
    heavy = confirmation.of(confirmed(0.2, inflation=1.1))
    assert not heavy.confirmed and "inflation is 1.1 there and may be 1.05 at most" in heavy.sentence
    broken = confirmation.of(confirmed(0.2, failures={TUNED: "exit status 1."}))
    assert not broken.confirmed and "a launch failed: exit status 1" in broken.sentence


def test_the_front_has_what_nothing_beats_in_both() -> None:
    found = made({DEFAULT: 0.0, "s001": 0.3, "s002": -0.2}, bounds={DEFAULT: 1.0, "s001": 1.1, "s002": 1.2})
    assert [place.name for place in confirmation.front(found) if place.front] == [DEFAULT, "s001"]
    timed = replace(found, asked=replace(found.asked, objective="time", bounds={}))
    assert confirmation.front(timed) == [] and document.front(timed)[1] == [], "no metrics are computed there"


def test_without_a_bound_the_front_is_against_inflation(tmp_path: Path) -> None:
    found = search_records.read(search_session(tmp_path / "s", BEHAVIOURS, bounds={}))
    places = {place.name: place for place in confirmation.front(found)}
    assert places["s002"].cost == pytest.approx(1.2, abs=0.05) and not places["s002"].front
    columns, rows = document.front(found)
    assert columns[2:] == ["against the default", "inflation"] and "s001" in [row[0] for row in rows]
    assert "## Objective against compute slowdown" in document.document(found, confirmation.of(found), {})
    (drawn,) = [figure for figure in figures.draw(found) if figure.name == "tuning_pareto"]
    assert set(drawn.points["inflation"]) == {place.cost for place in places.values()}
    itself = search_records.read(search_session(tmp_path / "t", BEHAVIOURS, objective="inflation", bounds={}))
    assert confirmation.front(itself) == []


def test_documents_and_figures_say_what_became_of_every_setting(tmp_path: Path) -> None:
    found = confirmed(0.2)
    told, taken = confirmation.of(found), {"UCX_RNDV_THRESH": (False, "UCX calls it unused")}
    text = document.document(found, told, taken)
    assert "| s002 | burst=1, UCX_RNDV_THRESH=8192 | 6 |" in text and "worse than s001" in text
    assert "| UCX_RNDV_THRESH | not shown to have taken effect | UCX calls it unused |" in text
    assert json.loads(document.as_json(found, told, taken))["verdict"]["confirmed"] is True
    drawn = figures.draw(found)
    assert [figure.name for figure in drawn] == ["tuning_search", "tuning_pareto", "tuning_values"]
    for figure in drawn:
        assert len(figure.points) and save(figure, tmp_path)["png"].stat().st_size > 1000


@pytest.mark.parametrize("method", proposals.SEARCHES)
def test_proposals_are_new_and_within_the_space(method: str) -> None:
    tried = [Tried({"burst": "20"}, 0.1), Tried({"burst": "1"}, None)]
    found = list(proposals.propose(SPACE, tried, method, seed=1))
    every = [{}, *({"burst": b} for b in ("1", "20")), {"UCX_RNDV_THRESH": "8192"},
             *({"burst": b, "UCX_RNDV_THRESH": "8192"} for b in ("1", "20"))]  # fmt: skip
    left = [values for values in every if values and values not in ({"burst": "20"}, {"burst": "1"})]
    assert sorted(map(sorted, map(dict.items, found))) == sorted(map(sorted, map(dict.items, left)))


@pytest.mark.parametrize("method", ["effects", "tpe"])
def test_the_search_learns_from_what_was_tried(method: str) -> None:
    """Of two axes one decides: after some trials it is proposed as it should be more often than by chance."""
    space = (Axis("a", ("default", "1", "2", "3")), Axis("b", tuple(["default", *map(str, range(12))])))
    tried = [
        Tried({"a": a, "b": str(b)}, 1.0 if a == "2" else 0.0)
        for b, a in enumerate(["1", "2", "3", "2", "1", "3", "2", "1", "2", "3", "2", "3"])
    ]
    found = [values for values, _ in zip(proposals.propose(space, tried, method, 1), range(10), strict=False)]
    assert sum(values.get("a") == "2" for values in found) >= 5, "by chance it were a quarter"


def test_a_planted_optimum_is_found_and_copies_of_the_default_win_nothing() -> None:
    series = np.random.default_rng(5).normal(0, 0.01, 200)
    ended = gates.search(gates.made_up(gates.planted, [series], 1), "effects", seed=1)
    assert ended.confirmed and ended.values.get("p3") == "2"
    same = gates.search(gates.made_up(gates.no_effect, [series], 1), "random", seed=1, blocks=3)
    assert not same.confirmed and not same.values


@pytest.mark.full
def test_ten_of_ten_planted_optima_and_no_more_false_winners_than_the_level_allows() -> None:
    pools = gates.noise([gates.FOLDER / name for name in gates.REFERENCE], gates.SAMPLES)
    found = [gates.search(gates.made_up(gates.planted, pools, seed), "effects", seed) for seed in range(10)]
    assert [one.values.get("p3") for one in found] == ["2"] * 10
    false = sum(
        gates.search(gates.made_up(gates.no_effect, pools, seed), "effects", seed).confirmed for seed in range(200)
    )
    assert gates.upper_95(false, 200) < gates.ALLOWED


def test_first_every_value_is_tried_once_and_a_value_that_fails_is_left() -> None:
    first = list(itertools.islice(proposals.propose(gates.SPACE, [], "effects", 1), 6))
    pairs = [pair for one in first for pair in one.items()]
    assert sorted(pairs) == sorted((axis.name, value) for axis in gates.SPACE for value in axis.values[1:])
    tried = [Tried(one, None if one.get("p0") == "1" else 0.1) for one in first]
    then = list(itertools.islice(proposals.propose(gates.SPACE, tried, "effects", 1), 20))
    assert sum(one.get("p0") == "1" for one in then) <= 5, "by chance of four values it were as many"
    assert sum(one.get("p0") in ("2", "3") for one in then) > sum(one.get("p0") == "1" for one in then)


def test_where_nothing_is_better_the_default_is_the_best_from_which_others_are_proposed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(proposals, "_climb", lambda values, *_: values)  # proposed is that from which it would go on
    for inflation, best in ((1.0, {}), (1.2, {"burst": "20"})):
        found = made({DEFAULT: 0.0, "s001": -0.1, "s002": -0.2}, bounds={DEFAULT: inflation})
        tried = document.tried(found, elimination.state(found))
        assert tried[0].values == {} and tried[0].gain == 0.0 and (tried[0].beyond > 0) == (inflation > 1.05)
        assert next(proposals.by_effects(SPACE, tried, 1)) == best


def test_a_confirmation_that_leaves_it_open_goes_on_and_one_that_decides_does_not() -> None:
    search = confirmed(0.2)
    assert not confirmation.undecided(search), "it is confirmed"
    assert not confirmation.undecided(confirmed(-0.2)), "nothing speaks for it"
    assert not confirmation.undecided(confirmed(0.2, failures={TUNED: "exit status 1."}))
    weak = confirmed(0.2)
    rounds = {round_: Score(0.1 + round_ / 100 if round_ % 3 else -0.1, {"inflation": 1.0}) for round_ in range(6, 18)}
    scores = {**weak.scores, TUNED: rounds, OLD: {round_: Score(0.0, {"inflation": 1.0}) for round_ in rounds}}
    open_ = replace(weak, scores=scores)
    assert not confirmation.of(open_).confirmed and confirmation.undecided(open_)
    assert not confirmation.undecided(replace(open_, asked=replace(open_.asked, looks=1)))
    heavy = {round_: replace(one, bounds={"inflation": 1.2}) for round_, one in rounds.items()}
    assert not confirmation.undecided(replace(open_, scores={**scores, TUNED: heavy})), "a bound is broken"


def test_a_failure_counts_from_its_block_on() -> None:
    search = made({DEFAULT: 0.0, "s001": 0.3, "s002": 0.1}, rounds=12)
    blocks = (Block(SIDES, 6, 0), Block((DEFAULT, REFERENCE, "s001"), 6, 6))
    search = replace(search, asked=replace(search.asked, blocks=blocks), failures={"s001": "exit status 1"})
    early, late = (elimination.state(replace(search, failed_in={"s001": round_})) for round_ in (0, 6))
    assert early.leader == "s002"
    assert late.standings["s002"].out.startswith("worse than s001 in 6 rounds"), "as it was decided then"
    assert late.standings["s001"].out == "failed: exit status 1"


def test_a_block_in_which_the_reference_failed_blames_no_setting_and_counts_as_not_run() -> None:
    search = made({DEFAULT: 0.0, "s001": 0.2, "s002": -0.1})
    new = (DEFAULT, REFERENCE, "s001", "s002")
    blocks = (Block((DEFAULT, REFERENCE, "s001"), 6, 0), *(Block(new, 6, 6 * number) for number in (1, 2, 3)))
    scores = {side: rounds for side, rounds in search.scores.items() if side != "s002"}
    lost = replace(
        search, scores=scores, asked=replace(search.asked, blocks=blocks), failures={REFERENCE: "exit status 3"}
    )
    then = document.next_(lost, seed=1)
    assert not then.state.standings["s002"].out and then.state.leader == "s001"
    assert set(then.alive) == {"s001", "s002"} and {"burst": "1", "UCX_RNDV_THRESH": "8192"} not in then.new
    assert [one.values for one in document.tried(lost, then.state)] == [{}, {"burst": "20"}], "nothing is known of s002"
    assert "none of its rounds counts" in document.document(lost, confirmation.of(lost), {})
    late = {**scores, DEFAULT: {**scores[DEFAULT], 23: Score(0.0)}, "s001": {**scores["s001"], 23: Score(0.2)}}
    nothing = elimination.state(replace(lost, scores=late)).standings["s002"]
    assert nothing.out == "failed: nothing was measured", "the others were, in its round"
    bad = elimination.state(replace(lost, failures={"s002": "it hangs"}, failed_in={"s002": 6}))
    assert bad.standings["s002"].out == "failed: it hangs"


def test_a_search_goes_on_with_one_that_does_not_lead_as_long_as_it_is_not_out() -> None:
    """The default may lead by luck: one block does not tell, and there are minutes left."""
    values = (0.1, -0.1, 0.2, -0.3, 0.1, -0.25)  # the middle is below 0, which six rounds do not show

    def after(blocks: int) -> document.Step:
        rounds = range(6 * blocks)
        zero = dict.fromkeys(rounds, Score(0.0))
        scores = {DEFAULT: zero, "s001": {round_: Score(values[round_ % 6]) for round_ in rounds}}
        search = made({DEFAULT: 0.0, "s001": 0.0})
        sides = tuple(Block((DEFAULT, "s001"), 6, 6 * number) for number in range(blocks))
        only = replace(search.asked, space=(Axis("burst", ("default", "1")),), contenders={"s001": {"burst": "1"}})
        return document.next_(replace(search, scores=scores, asked=replace(only, blocks=sides)), seed=1)

    first = after(1)
    assert (first.state.leader, list(first.alive), list(first.new)) == (DEFAULT, ["s001"], []) and not first.over
    assert after(3).over and "not shown to be better" in after(3).state.standings["s001"].out


def test_a_gain_of_times_is_a_factor() -> None:
    found = made({DEFAULT: 0.0, "s001": 0.2})
    by_time = replace(found, asked=replace(found.asked, objective="time"))
    gain = Middle(np.log(2), np.log(1.5), np.inf)
    assert confirmation.gain_words(gain, by_time) == "time better by a factor of 2.000 (1.500 to inf)"
    assert confirmation.gain_words(Middle(0.25, 0.2, 0.3), found) == "efficiency +0.250 (+0.200 to +0.300)"
