# SPDX-License-Identifier: BSD-3-Clause
"""Which verdict a gate comes to: of measurements that are made so that the right one is known."""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from analysis.gate import decision_rule, history, outputs, sequential
from analysis.gate import gate_records as measured_
from analysis.gate.decision_rule import Rule
from analysis.gate.gate_records import BASE, SIDES, Measurement, Plan, Series
from analysis.gate.judge import judge
from analysis.gate.outcome import NEW, GateFound, Verdict
from analysis.statistics.ranks import p_below

ROUNDS = 40
Factors = Mapping[str, float]


def gate(
    slower: Factors | None = None,
    rounds: int = ROUNDS,
    noise: float = 0.01,
    nodes: Factors | None = None,
    seed: int = 1,
    sign: int = 1,
    everything: float = 1.0,
) -> Measurement:
    """`slower`: side -> factor; `nodes`: node -> factor on its computation, which slows every side down as well."""
    rng = np.random.default_rng(seed)
    nodes = dict.fromkeys(("a", "b", "c", "d"), 1.0) | dict(nodes or {})
    drag = max(nodes.values()) * everything
    values = {
        side: {
            round_: float((drag * (slower or {}).get(side, 1.0)) ** sign * math.exp(rng.normal(0, noise)))
            for round_ in range(rounds)
        }
        for side in SIDES
    }
    check_run = {
        "computation": {
            node: {round_: 0.02 * factor * everything * math.exp(rng.normal(0, 0.01)) for round_ in range(rounds)}
            for node, factor in nodes.items()
        },
        "transfer": {"a and c": dict.fromkeys(range(rounds), 1e-3), "b and d": dict.fromkeys(range(rounds), 1e-3)},
    }
    plan = Plan(ROUNDS, sequential.looks(ROUNDS), 0.02, "adaptive", "adaptive:burst=5")
    series = [Series("overlap: 1 MB", "total_s", sign, values)]
    return Measurement("20261122-gate", plan, "adaptive 12ab", "vcluster (a, b), mpich", "2026", series, check_run, [])


@functools.cache
def values_of(seed: int) -> Mapping[str, float]:
    one = judge(gate(seed=seed))
    return history.values_of(one.points, one.check_run, "adaptive 12ab")


def earlier(count: int, spread: float = 0.01) -> list[dict[str, float]]:
    found = []
    for seed in range(count):
        rng = np.random.default_rng(seed)
        found.append({name: value * math.exp(rng.normal(0, spread)) for name, value in values_of(100 + seed).items()})
    return found


MADE: dict[Verdict, tuple[int, dict[str, Any], int, str]] = {
    Verdict.SAME: (0, {}, 0, ""),
    Verdict.FASTER: (0, {"slower": {NEW: 0.9}}, 0, ""),
    Verdict.COMMIT: (1, {"slower": {NEW: 1.05}}, 0, "overlap: 1 MB"),
    Verdict.NODE: (3, {"nodes": {"b": 1.3}}, 0, "node b computes 30 % slower"),
    Verdict.SYSTEM: (3, {"everything": 1.3}, 6, "; check run: computation on a: +30 % against 6 earlier gates; "),
    Verdict.UNDECIDED: (3, {"noise": 0.2}, 0, "they could see a slow-down of"),
}


@pytest.mark.parametrize("verdict", Verdict)
def test_each_verdict_has_its_status_and_its_words(verdict: Verdict) -> None:
    status, how, before, said = MADE[verdict]
    found = judge(gate(**how), earlier(before))
    assert (found.verdict, found.status) == (verdict, status)
    assert said in found.sentence
    assert [odd.where for odd in found.odd] == (["b"] if verdict is Verdict.NODE else [])


def test_the_same_program_is_the_same_and_ends_early() -> None:
    found = judge(gate())
    assert (found.verdict, found.status, found.decided) == (Verdict.SAME, 0, True)
    assert found.rounds < ROUNDS
    assert 1 / 1.02 < found.points[0].low <= found.points[0].high < 1.02


def test_a_side_that_may_not_be_what_was_asked_for_does_not_pass() -> None:
    found = judge(gate(), untaken=["UCX_TSL=tcp: UCX calls it unused"])
    assert (found.verdict, found.status) == (Verdict.UNDECIDED, 3)
    assert "UCX_TSL=tcp: UCX calls it unused" in found.sentence
    assert judge(gate({NEW: 1.05}), untaken=["x"]).verdict is Verdict.COMMIT


@pytest.mark.parametrize("sign", [1, -1])
def test_a_slower_candidate_is_the_commit(sign: int) -> None:
    found = judge(gate({NEW: 1.05}, sign=sign))
    assert (found.verdict, found.status) == (Verdict.COMMIT, 1)
    assert found.points[0].ratio == pytest.approx(1.05, abs=0.015)
    assert "+" in found.sentence and "overlap: 1 MB" in found.sentence


def test_the_level_of_the_intervals_is_said() -> None:
    """At the look that is shown; none of an interval that is not known."""
    found = judge(gate({NEW: 0.9}))
    (point,) = found.points
    assert 0.98 <= point.level < 1 and f"of the candidate {100 * point.level:.6g} %" in outputs.as_markdown(found)
    assert json.loads(outputs.as_json(found))["points"][0]["level"] == point.level
    few = judge(gate(rounds=4))
    assert json.loads(outputs.as_json(few))["points"][0]["level"] is None and "In brackets" not in outputs.as_markdown(
        few
    )


def test_one_lucky_point_of_many_does_not_make_a_candidate_faster() -> None:
    """Each of 20 points is faster by the margin, and not by more."""
    rule, rounds = Rule(), 31
    logs = np.random.default_rng(1).normal(-rule.bound, 0.01, (1000, 20, rounds))
    (level,) = decision_rule.levels(rule, [rounds], rounds, 20)
    chances = p_below(logs, -rule.bound)
    assert np.mean((chances <= level.faster).any(axis=-1)) <= 1.5 * rule.false_passes
    assert np.mean((chances <= level.same).any(axis=-1)) > 0.1, "what one point may spend"


def test_a_slow_node_and_a_slow_candidate_are_both_said() -> None:
    found = judge(gate({NEW: 1.08}, nodes={"b": 1.3}))
    assert found.verdict is Verdict.COMMIT
    assert "node b" in found.sentence


def test_a_slow_link_is_named() -> None:
    measured = gate()
    measured.check_run["transfer"]["b and d"] = dict.fromkeys(range(ROUNDS), 1.5e-3)
    found = judge(measured)
    assert found.verdict is Verdict.NODE and "link of b and d" in found.sentence


def test_four_earlier_gates_say_nothing_of_the_system() -> None:
    assert judge(gate(everything=2.0), earlier(4)).verdict is Verdict.SAME
    assert judge(gate(everything=2.0), earlier(5)).verdict is Verdict.SYSTEM


def test_one_busy_gate_among_quiet_ones_hides_no_change_of_the_system() -> None:
    known = earlier(6)
    busy = [*known[:3], {name: 1.4 * value for name, value in known[3].items()}, *known[4:]]
    assert judge(gate(everything=1.3), busy).verdict is Verdict.SYSTEM
    assert judge(gate(), busy).verdict is Verdict.SAME


@pytest.mark.full
def test_a_quiet_system_hardly_ever_leaves_its_history() -> None:
    """In less than 1 % of gates, where values differ by more than the margin, which alone keeps none of them back."""
    rng = np.random.default_rng(1)
    found, simulated = 0, 1500
    for number in range(simulated):
        values = np.exp(rng.normal(0, 0.2, (6 + number % 20, 3)))
        now, *before = ({str(place): float(value) for place, value in enumerate(row)} for row in values)
        found += bool(history.left(now, before))
    assert found < 0.01 * simulated


def test_a_control_that_differs_from_the_baseline_is_no_verdict() -> None:
    found = judge(gate({"control": 1.06, NEW: 1.06}))
    assert (found.verdict, found.status) == (Verdict.UNDECIDED, 3)
    assert "second copy of the baseline" in found.sentence


def test_the_point_is_named_in_which_the_control_differs_and_not_the_noisiest_one() -> None:
    """Whose own ratio is farther from 1 by chance: the copy was twice as slow in just more than half of its rounds."""
    moved, noisy = gate({"control": 1.06}).series[0], gate().series[0]
    copy = {round_: value * (2.0 if round_ % 2 else 0.6) for round_, value in noisy.values["control"].items()}
    copy[0] *= 4
    other = replace(noisy, name="overlap: 8 bytes", values={**noisy.values, "control": copy})
    found = judge(replace(gate(), series=[moved, other]))
    first, second = found.points
    assert math.log(first.control) < abs(math.log(second.control)) and first.control_low > 1 > second.control_low
    assert "in overlap: 1 MB, over" in found.sentence


def test_few_rounds_are_undecided_with_how_many_are_wanted() -> None:
    found = judge(gate({NEW: 3.0}, rounds=3))
    assert found.verdict is Verdict.UNDECIDED and "3 rounds are too few" in found.sentence


def test_a_look_in_between_spends_no_more_than_its_share() -> None:
    assert not judge(gate(rounds=11), ended=False).decided
    assert judge(gate({NEW: 2.0}, rounds=13), ended=False).decided


def test_a_gate_that_broke_off_is_told_by_its_looks_alone() -> None:
    """It may go on: what is left of the error is for the end, and is spent once."""
    measured = gate({NEW: 1.05}, rounds=11)
    assert judge(measured).verdict is Verdict.COMMIT
    found = judge(measured, ended=False)
    assert (found.verdict, found.points) == (Verdict.UNDECIDED, [])
    assert "it broke off after 11 rounds, before its first look" in found.sentence
    assert judge(gate({NEW: 2.0}, rounds=13), ended=False).verdict is Verdict.COMMIT


def test_launches_that_failed_keep_the_gate_from_passing() -> None:
    measured = gate()
    series = replace(measured.series[0], trouble={NEW: "exit status 11"})
    found = judge(replace(measured, series=[series]))
    assert (found.verdict, found.status) == (Verdict.UNDECIDED, 3)
    assert "the candidate: exit status 11" in found.sentence


FAILED, NEVER, LAST = "exit status 11", "not run: the batch job was cancelled", f"{measured_.CUT_OFF}exit status 143"


@pytest.mark.parametrize(
    ("trouble", "sides", "candidate"),
    [
        ({NEW: FAILED}, ["new"], True),
        ({BASE: NEVER, NEW: FAILED}, ["new"], True),
        ({BASE: FAILED, NEW: FAILED}, ["base", "new"], False),
        ({BASE: NEVER, "control": NEVER, NEW: NEVER}, [], False),
        ({BASE: NEVER, NEW: LAST}, [], False),
        ({}, [], False),
    ],
)
def test_a_candidate_that_alone_fails_is_told_from_a_job_that_ended(
    trouble: Mapping[str, str], sides: list[str], candidate: bool
) -> None:
    """A pipeline that goes on where nothing could be told stops there."""
    measured = gate()
    found = judge(replace(measured, series=[replace(measured.series[0], trouble=trouble)]))
    written = json.loads(outputs.as_json(found))
    assert (written["failed_sides"], written["candidate_failed"]) == (sides, candidate)
    case = ElementTree.fromstring(outputs.as_junit(found))[0]
    tags = ["error" if candidate else "skipped"] if trouble else []
    assert [told.tag for told in case] == tags


@pytest.mark.parametrize("what", ["computation", "transfer"])
def test_a_check_run_that_fails_keeps_the_gate_from_passing(what: str) -> None:
    """No slow node could be seen. A few of its launches may fail."""
    measured = replace(gate(), check_run_trouble="exit status 2")
    for rounds, verdict in {ROUNDS: Verdict.SAME, 6: Verdict.SAME, 5: Verdict.UNDECIDED, 0: Verdict.UNDECIDED}.items():
        places = measured.check_run[what].items() if rounds else ()
        few = {where: dict(list(values.items())[:rounds]) for where, values in places}
        found = judge(replace(measured, check_run={**measured.check_run, what: few}))
        assert found.verdict is verdict, (found.rounds, rounds)
    assert "since the check run failed: exit status 2; a slow node would not be seen." in found.sentence
    slower = replace(gate({NEW: 1.05}), check_run={})
    assert judge(slower).verdict is Verdict.COMMIT
    assert judge(replace(gate(), check_run={})).verdict is Verdict.UNDECIDED


def test_a_system_that_is_not_as_it_was_is_called_so_also_where_the_check_run_failed() -> None:
    """The baseline's own times tell it. Both are said, since it may be a node that was not seen."""
    found = judge(replace(gate(everything=1.3), check_run={}), earlier(6))
    assert (found.verdict, found.check_run_failed) == (Verdict.SYSTEM, True)
    assert found.sentence.startswith("The system is not as it was: ") and "since the check run failed" in found.sentence
    assert not judge(gate(everything=1.3), earlier(6)).check_run_failed


def test_the_check_run_of_one_study_sees_no_slow_node_of_another_one() -> None:
    """Each has its job. What is seen is named with the study; nodes of two jobs are not held against each other."""
    both = of_two(gate(), gate(seed=2))
    blind = {what: places for what, places in both.check_run.items() if "latency" not in what}
    assert judge(replace(both, check_run=blind)).verdict is Verdict.UNDECIDED
    slow = judge(of_two(gate(), gate(nodes={"b": 1.3})))
    assert slow.verdict is Verdict.NODE and "node b computes 30 % slower than the others (beside" in slow.sentence
    later = {what: {f"{w}2": r for w, r in places.items()} for what, places in gate(everything=1.3).check_run.items()}
    elsewhere = judge(of_two(gate(), replace(gate(everything=1.3, seed=2), check_run=later)))
    assert (elsewhere.verdict, elsewhere.odd) == (Verdict.SAME, [])
    assert elsewhere.check_run.computation_s.keys() == {"a", "b", "c", "d", "a2", "b2", "c2", "d2"}


def test_a_side_without_a_value_is_nothing_comparable() -> None:
    measured = gate()
    values = {**measured.series[0].values, NEW: {}}
    found = judge(replace(measured, series=[replace(measured.series[0], values=values)]))
    assert (found.verdict, found.status, found.points) == (Verdict.UNDECIDED, 3, [])
    assert "the candidate measured nothing" in found.sentence


def test_rounds_that_lack_a_side_do_not_count() -> None:
    measured = gate({NEW: 1.05})
    values = {side: dict(rounds) for side, rounds in measured.series[0].values.items()}
    del values[BASE][0], values[NEW][1]
    found = replace(measured, series=[replace(measured.series[0], values=values)])
    assert found.complete_rounds() == list(range(2, ROUNDS))
    assert judge(found).verdict is Verdict.COMMIT


@pytest.mark.parametrize(
    ("within", "whole", "verdict"),
    [
        (None, {}, Verdict.UNDECIDED),
        ({}, {}, Verdict.SAME),
        ({NEW: 1.05}, {}, Verdict.COMMIT),
        ({}, {NEW: 1.6}, Verdict.COMMIT),  # by what costs the same on and off
    ],
)
def test_pairs_within_launches_decide_what_launches_leave_open(
    within: Factors | None, whole: Factors, verdict: Verdict
) -> None:
    measurement = gate(whole, noise=0.1)
    if within is not None:
        (pairs,) = gate(within).series
        paired = replace(pairs, name="overlap: 1 MB, engine on / paused", paired=True)
        measurement = replace(measurement, series=[*measurement.series, paired])
    found = judge(measurement)
    assert found.verdict is verdict
    assert ("whole times could see a slow-down of" in found.sentence) == (verdict is Verdict.SAME)


def of_two(first: Measurement, second: Measurement | None, **changes: object) -> Measurement:
    """Studies that ran one after the other."""
    later = [replace(one, name="latency: 8 bytes") for one in second.series] if second else []
    check_run = {f"{what} beside overlap": places for what, places in first.check_run.items()}
    check_run |= {f"{what} beside latency": places for what, places in second.check_run.items()} if second else {}
    both = replace(first, series=[*first.series, *later], check_run=check_run, studies=("overlap", "latency"))
    return replace(both, **changes)  # type: ignore[arg-type]


def test_a_study_that_ends_early_does_not_end_the_next_one() -> None:
    """Of which nothing is measured yet when the first one looks."""
    look = judge(of_two(gate(rounds=24), None), ended=False)
    assert look.settled == ["overlap"] and not look.decided
    look = judge(of_two(gate(rounds=24), gate({NEW: 1.05}, rounds=11, noise=0.03, seed=2)), ended=False)
    assert look.settled == ["overlap"] and not look.decided
    found = judge(of_two(gate(rounds=24), gate({NEW: 1.05}, noise=0.02, seed=2)))
    assert (found.verdict, found.rounds) == (Verdict.COMMIT, 12)
    assert [point.slower for point in found.points] == [False, True] and "over 12 to 24 rounds" in found.sentence


def test_one_study_is_enough_to_call_a_candidate_slower_and_all_have_to_be_the_same() -> None:
    look = judge(of_two(gate({NEW: 1.5}, rounds=24), None), ended=False)
    assert look.decided and look.verdict is Verdict.COMMIT
    assert judge(of_two(gate(), gate(seed=2))).verdict is Verdict.SAME
    for second in (None, gate(noise=0.3, seed=2)):
        assert judge(of_two(gate(), second)).verdict is Verdict.UNDECIDED
    assert "nothing was measured of latency" in judge(of_two(gate(), None)).sentence


def test_rounds_of_a_study_that_is_settled_are_none_of_the_one_that_is_not() -> None:
    """How many would tell is reckoned from those in which the interval was measured."""
    noisy = gate(noise=0.2, seed=2)
    both = judge(of_two(gate(), noisy))
    assert both.rounds == 12 and "Undecided after 40 rounds: they could see" in both.sentence
    told, alone = (int(re.findall(r"about (\d+) rounds", one.sentence)[0]) for one in (both, judge(noisy)))
    assert told == alone > 40


def test_what_a_look_may_spend_does_not_depend_on_studies_that_are_still_to_come() -> None:
    first, second = gate(rounds=24), gate(seed=2)
    alone, both = of_two(first, None), of_two(first, second)
    assert repr(judge(alone, ended=False).points[0]) == repr(judge(both, ended=False).points[0])  # nan is not nan
    assert alone.tests() == both.tests() == 2 * first.tests()


def many(found: GateFound, count: int) -> GateFound:
    return replace(found, points=[replace(found.points[0], name=f"point {i} <&\x01|") for i in range(count)])


def test_undecided_is_skipped_in_junit_and_infinite_ends_are_null() -> None:
    found = judge(gate(rounds=3))
    junit = ElementTree.fromstring(outputs.as_junit(found))
    assert junit.attrib["failures"] == "0" and junit.attrib["skipped"] == "2"
    assert json.loads(outputs.as_json(found))["points"][0]["high"] is None


def test_a_control_that_is_not_tested_at_a_look_has_no_interval() -> None:
    """The first look of a long gate has too few rounds for what it may spend on it."""
    early = judge(gate({NEW: 1.5}))
    assert early.rounds == 12 and early.points[0].control_high == math.inf
    assert f"| {early.points[0].control:.3f} (not tested yet) | slower |" in outputs.as_markdown(early)
    late = judge(gate(noise=0.2))
    assert "not tested yet" not in outputs.as_markdown(late) and " inf" not in outputs.as_markdown(early)


def test_markdown_of_many_points_fits_a_merge_request() -> None:
    found = many(judge(gate()), 3000)
    text = outputs.as_markdown(found)
    assert len(text.encode()) <= outputs.MARKDOWN_LIMIT and "2800 points more" in text
    ElementTree.fromstring(outputs.as_junit(found))
