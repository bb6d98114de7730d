# SPDX-License-Identifier: BSD-3-Clause
"""The limit: chosen on one half of the launches and judged on the other, and how near a variant comes to it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis import enough
from analysis.evidence import Evidence
from analysis.limit import goals, main
from analysis.metrics.evaluate import evaluate
from analysis.metrics.times import ONE_LAUNCH, LaunchTimes, RankSamples, VariantTimes, change, launch_times
from analysis.records.load import load
from analysis.records.read import BadLine, apart
from analysis.report.page_tables import results
from analysis.report.sentences import verdict
from analysis.statistics.interval import Interval, ratio_of_medians
from analysis.statistics.pairs import of_pairs, random_effects
from analysis.studies.harm import document, harmed, undecided
from analysis.tables import Cell, Harm, Row, correct, pooled, ratios, rows
from analysis.tests.synthetic import LIMITED, Behaviour, Synthetic, changed_points, edited, write_launch
from analysis.tests.test_metrics import exact, metric

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
    for lines in edited(session, "*.limit.jsonl"):
        lucky = (500, 2000)[lines[0]["header"]["context"]["repetition"] % 2]
        for line in lines[1:-1]:
            if line["point"]["wake_us"] == lucky:
                for part in ("total_s", "post_s", "comp_in_s", "wait_s"):
                    line["samples"][part] = [0.9 * value for value in line["samples"][part]]
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
    [(3, 0.0, "3 of 3 rounds give a value and 6 are needed"), (6, 0.5, "% of the measured time")],
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
    assert f"That is not certain: {'' if launches == 3 else 'something else took'}" in verdict(frame).text()


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


# What is said of pairs within launches: how often it is wrong where there is no effect, and how small a one it sees.
WITHIN, BETWEEN = 0.023, 0.06


def samples(rng: np.random.Generator, loss: float, count: int, differs: float = 0.0) -> tuple[Any, Any]:
    """Of a launch: with the engine and with it paused, seconds."""
    noise = np.exp(rng.normal(0, WITHIN, (2, count))) * np.where(rng.random((2, count)) < 0.1, 1.3, 1.0)
    on, off = 0.01 * np.exp(rng.normal(0, BETWEEN)) * noise
    return on * (1 + loss + rng.normal(0, differs)), off


def effect(rng: np.random.Generator, loss: float, count: int, differs: float = 0.0, launches: int = 12) -> Interval:
    both = [samples(rng, loss, count, differs) for _ in range(launches)]
    return of_pairs([np.log(on / off) for on, off in both])


def table_of(effects: Sequence[Interval]) -> list[Row]:
    found = []
    for number, one in enumerate(effects):
        value, low, high = map(float, np.exp([one.value, one.low, one.high]))
        ratio = Interval(value, low, high, one.kind, one.defensible, one.freedom)
        cells = {"adaptive": Cell(Harm.UNCLEAR, ratio, paired=True)}
        found.append(Row(f"w{number}", "", "m", "s", "total_s", False, "s", 1.02, None, cells))
    correct(found, "adaptive")
    return found


@pytest.mark.parametrize("differs", [0.0, 0.02])
def test_an_interval_holds_the_effect_also_where_launches_differ_in_it(differs: float) -> None:
    rng = np.random.default_rng(1)
    found = [effect(rng, 0.02, 20, differs) for _ in range(150)]
    missed = sum(not one.low <= np.log(1.02) <= one.high for one in found)
    assert missed <= 12, "of 150, where 95 % hold it"
    assert all(one.defensible for one in found)


def test_two_percent_are_seen_in_most_rows_where_launches_against_launches_see_none() -> None:
    rng = np.random.default_rng(2)
    launches = [[samples(rng, 0.02, 20) for _ in range(12)] for _ in range(60)]
    paired = [of_pairs([np.log(on / off) for on, off in one]) for one in launches]
    apart_ = [ratio_of_medians([on for on, _ in one[:6]], [off for _, off in one[6:]]) for one in launches]
    assert sum(one.low > 0 for one in paired) >= 48
    assert sum(one.low > 1 for one in apart_) <= 12
    assert np.median([one.half_width for one in paired]) < 0.015 < np.median([one.half_width for one in apart_])


@pytest.mark.parametrize(("sessions", "most"), [(8, 0), pytest.param(100, 2, marks=pytest.mark.full)])
def test_no_session_of_many_rows_is_wrong_for_certain(sessions: int, most: int) -> None:
    """Where nothing is lost none is harmed; where a little more than the budget is, none is within it."""
    rng = np.random.default_rng(3)
    wrong = 0
    for _ in range(sessions):
        nothing = table_of([effect(rng, 0.0, 10) for _ in range(20)])
        more = table_of([effect(rng, 0.0201, 10) for _ in range(20)])
        wrong += any(row.cells["adaptive"].harm is Harm.HARMED for row in nothing)
        wrong += any(row.cells["adaptive"].harm is Harm.NONE for row in more)
    assert wrong <= most


def test_what_all_rows_lose_is_seen_where_no_row_alone_is_decided() -> None:
    rng = np.random.default_rng(4)
    found = table_of([effect(rng, 0.01, 4) for _ in range(25)])
    over_all = pooled(ratios(found, "adaptive"))
    assert sum(row.cells["adaptive"].harm is Harm.UNCLEAR for row in found) > 12
    assert 1.0 < over_all.low < 1.01 < over_all.high < 1.02
    assert over_all.kind == "95 % interval over 25 workloads"
    same = [Row(**{**vars(row), "workload": "one"}) for row in found]
    assert np.isnan(pooled(ratios(same, "adaptive")).value), "a workload on many MPIs is one"


def test_estimates_that_differ_more_than_their_errors_say_are_wide() -> None:
    alike = random_effects([0.0, 0.01, -0.01, 0.0], [0.01] * 4, "")
    apart_ = random_effects([0.0, 0.1, -0.1, 0.0], [0.01] * 4, "")
    assert apart_.half_width > 5 * alike.half_width
    assert random_effects([0.0] * 3, [0.0] * 3, "").half_width < 1e-6


def test_repetitions_fall_into_those_with_the_engine_and_those_without() -> None:
    latency = np.array([0.0, 1, 2, 3, 4, 5, 6, 7])
    whole, odd = np.array([1.0, 2, 3, 4]), np.array([0.0, 1, 2])
    found = apart({"armed": np.array([1.0, 0, 0, 1]), "total_s": whole, "latency_s": latency, "odd": odd})
    assert {name: values.tolist() for name, values in found.items()} == {
        "total_s": [1, 4], "paused_total_s": [2, 3], "latency_s": [0, 1, 6, 7], "paused_latency_s": [2, 3, 4, 5],
        "armed": [1, 0],
    }  # fmt: skip


@pytest.mark.parametrize("armed", [[1.0, 1.0], [1.0], [], [0.5, 0.5]])
def test_what_is_no_pair_is_no_sample(armed: list[float]) -> None:
    with pytest.raises(BadLine, match="armed"):
        apart({"armed": np.array(armed), "total_s": np.ones(len(armed))})


def session_of(
    folder: Path, loss: float, launches: int = 12, left_out: int = 0, of: str = "stencil-wave", rate: bool = False
) -> Path:
    """Launches of a workload that pause their engine by turns; of a `rate` of 1 / 0.01 s, more is better."""
    quantity = "bytes_per_s" if rate else "total_s"
    rng = np.random.default_rng(7)
    (folder / "launches").mkdir(parents=True)
    (folder / "records").mkdir()
    for study in (f"harm-{of}", "harm-npb-cg"):
        (folder / "launches" / f"{study}.mpich.json").write_text("[]")
    quantities = {quantity: {"unit": "1", "better": "higher" if rate else "lower", "leading": True},
                  "armed": {"unit": "1", "better": "neither", "leading": False}}  # fmt: skip
    for number in range(launches + left_out):
        name = f"harm-{of}.s.mpich.{number:03d}.adaptive"
        on, off = (1 / times if rate else times for times in samples(rng, loss, 20))
        armed = rng.permuted(np.tile([1.0, 0.0], (20, 1)), axis=1)
        both = np.where(armed == 1, on[:, None], off[:, None]).ravel().tolist()
        line: dict[str, Any] = {"point": {"nx": 1}, "samples": {quantity: both, "armed": armed.ravel().tolist()}}
        if number >= launches:
            line |= {"status": "skipped", "reason": "not needed: the verdict was known", "samples": {}}
        more: dict[str, Any] = {"context": {"session": "s"}, "quantities": quantities}
        write_launch(folder, f"harm-{of}", "adaptive", name, [line], **more)
    return folder


@pytest.mark.parametrize(("loss", "harm"), [(0.0, Harm.NONE), (0.08, Harm.HARMED), (0.02, Harm.UNCLEAR)])
def test_pairs_decide_without_a_launch_under_bare(tmp_path: Path, loss: float, harm: Harm) -> None:
    evidence = Evidence(load([session_of(tmp_path / "s", loss)]))
    (row,) = rows(evidence)
    cell = row.cells["adaptive"]
    assert cell.harm is harm and cell.paired and cell.ratio and 0.02 < cell.sees < 0.04
    assert row.bare and row.bare.value == pytest.approx(0.01, rel=0.2)
    assert bool(harmed([row], "adaptive")) == (harm is Harm.HARMED)
    assert bool(undecided([row], "adaptive")) == (harm is Harm.UNCLEAR)
    text = document(evidence)
    assert (
        f"{cell.ratio.value:.3f} [" in text and "sees" in text and "by launches" not in text.split("# Harm")[1][1500:]
    )


@pytest.mark.parametrize(
    ("noise", "harm"), [({"others_s": 0.2}, Harm.UNCLEAR), ({"involuntary_switches": 10_000}, Harm.HARMED)]
)
def test_what_else_ran_bars_a_decision_by_pairs_and_the_engines_own_thread_does_not(
    tmp_path: Path, noise: dict[str, float], harm: Harm
) -> None:
    folder = session_of(tmp_path / "s", 0.08)
    for lines in edited(folder):
        lines[1]["noise"] = {"watched_s": 0.4, "steal_s": 0.0} | noise
    (row,) = rows(Evidence(load([folder])))
    cell = row.cells["adaptive"]
    assert cell.harm is harm and ("disturbed" in cell.why) == (harm is Harm.UNCLEAR)


@pytest.mark.parametrize(("loss", "harm"), [(0.0, Harm.NONE), (0.08, Harm.HARMED)])
def test_bandwidth_that_polling_takes_is_harm(tmp_path: Path, loss: float, harm: Harm) -> None:
    """The memory-bound row: a rate, in pairs, at a point that its study has."""
    evidence = Evidence(load([session_of(tmp_path / "s", loss, of="roofline-triad", rate=True)]))
    (row,) = rows(evidence)
    assert (row.workload, row.quantity, row.rate) == ("roofline triad", "bytes_per_s", True)
    assert row.cells["adaptive"].paired and row.cells["adaptive"].harm is harm
    assert "| roofline triad | mpich | bytes_per_s |" in document(evidence)


@pytest.mark.parametrize(("loss", "status"), [(0.0, 0), (0.08, 0), (0.02, 1)])
def test_a_look_ends_what_is_decided(tmp_path: Path, loss: float, status: int) -> None:
    folder = session_of(tmp_path / "s", loss, launches=6)
    assert enough.main(["mpich", str(folder), "harm-stencil-wave"]) == status
    assert enough.main(["openmpi", str(folder), "harm-stencil-wave"]) == 1, "nothing is there of it"


def test_launches_that_were_not_needed_are_no_failure(tmp_path: Path) -> None:
    (row,) = rows(Evidence(load([session_of(tmp_path / "s", 0.0, launches=6, left_out=6)])))
    assert row.cells["adaptive"].harm is Harm.NONE


def test_one_launch_has_no_interval_and_says_so(tmp_path: Path) -> None:
    evidence = Evidence(load([session_of(tmp_path / "s", 0.5, launches=1)]))
    (row,) = rows(evidence)
    assert row.cells["adaptive"].harm is Harm.UNCLEAR and not harmed([row], "adaptive")
    assert "stencil wave on mpich, adaptive: unclear: pairs of one launch alone" in document(evidence)


def test_a_file_whose_pairs_are_broken_is_told(tmp_path: Path) -> None:
    folder = session_of(tmp_path / "s", 0.0, launches=6)
    for lines in edited(folder, count=1):
        lines[1]["samples"]["armed"][:2] = [1, 1]
    (problem,) = load([folder]).problems[-1:]
    assert "not one repetition with the engine" in str(problem)


def of_overlap(rng: np.random.Generator, gain: float, paused: bool) -> LaunchTimes:
    """A launch's times of a message of 1 ms beside 1 ms of computation; its acknowledgement takes as long again."""
    on, off = samples(rng, -gain, 20)
    ack = np.full(20, 0.001)
    mine = {"total_s": on + ack, "ack_s": ack, "comp_s": off, "comm_s": off}
    if paused:
        mine |= {"armed": np.ones(20), "paused_total_s": off + ack, "paused_ack_s": ack}
    return launch_times([RankSamples("sender", mine)], "both", rng)


def test_what_the_engine_changes_is_told_of_pairs_where_there_are_some() -> None:
    rng = np.random.default_rng(3)
    paired, alone, bare = (
        VariantTimes.of([of_overlap(rng, gain, paused) for _ in range(6)], rng)
        for gain, paused in ((0.05, True), (0.05, False), (0.0, False))
    )
    found, other = change(paired, bare), change(alone, bare)
    assert found.low < 0.95 < found.high < 0.98, "without what the acknowledgement takes"
    assert found.high - found.low < (other.high - other.low) / 2
    assert "pairs" in found.kind and "pairs" not in other.kind


def test_effects_that_differ_weigh_more_alike_than_their_errors_have_it() -> None:
    """By hand: of weights 1 and 1/4 the excess is 3.2 - 1, over 1.25 - 1.0625 / 1.25: what is between them is 5.5."""
    assert random_effects([0.0, 4.0], [1.0, 2.0], "").value == pytest.approx(4 * 6.5 / (6.5 + 9.5))
    assert random_effects([0.0, 0.0], [1.0, 2.0], "").value == 0
