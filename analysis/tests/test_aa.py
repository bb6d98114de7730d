# SPDX-License-Identifier: BSD-3-Clause
"""Alarms by the same program measured again: chosen on some real sessions, tested on others, counted as they are."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from analysis.benchmarks import aa, aa_sessions
from analysis.benchmarks.aa import Tally
from analysis.benchmarks.aa_sessions import Kept
from analysis.benchmarks.synthetic import USUAL, Synthetic
from analysis.compare.comparison import Judgement
from analysis.compare.judge import FALSE_ALARMS, MARGIN, compare, judge_points

DOCS = Path(__file__).resolve().parents[2] / "docs" / "measured" / "false-alarms.md"


@pytest.fixture(scope="module")
def kept() -> list[Kept]:
    return aa_sessions.read()


@pytest.fixture(scope="module")
def alarms(kept: list[Kept]) -> dict[float, int]:
    return aa.alarms_chosen_on(kept)


@pytest.mark.full
def test_the_margin_is_the_smallest_without_an_alarm_where_it_was_chosen(alarms: dict[float, int]) -> None:
    assert aa.choose(alarms) == MARGIN
    assert alarms[0.0] > 0


def test_no_session_is_both_chosen_and_tested_on_or_in_two_tested_pairs(kept: list[Kept]) -> None:
    uses = [{one.name for one in aa.used(kept, use)} for use in aa_sessions.USES]
    assert not uses[0] & uses[1]
    for use in aa_sessions.USES:
        names = [(one.name, one.mpi) for pair in aa.disjoint_pairs(aa.used(kept, use)) for one in pair]
        assert len(set(names)) == len(names)
    assert len(aa.disjoint_pairs(aa.used(kept, "chosen"))) == 5, "ten sessions"


@pytest.mark.full
def test_the_document_has_the_tables_of_what_is_kept(kept: list[Kept], alarms: dict[float, int]) -> None:
    text = DOCS.read_text()
    for table in aa.tables(kept, alarms).split("\n\n"):
        assert table in text, f"print it again: python -m analysis.benchmarks.aa\n{table}"


def test_the_bound_is_exact_and_needs_299_decisions_for_one_percent() -> None:
    assert Tally(2, 0).bound == pytest.approx(1 - 0.05**0.5)
    assert Tally(298, 0).bound > 0.01 > Tally(299, 0).bound
    assert Tally(10, 1).bound == pytest.approx(0.394, abs=0.001)
    assert Tally(0, 0).bound == 1


def made(folder: Path, count: int) -> list[Path]:
    """Sessions of one program on two MPIs, one of them with everything 10 % slower."""
    folders = []
    for number in range(count):
        name = f"2026010{number}-000000-again"
        mpis = {mpi: {"bare": USUAL["bare"]} for mpi in ("mpich", "openmpi")}
        session = Synthetic(mpis=mpis, samples=3, launch_spread=0.002, sample_spread=0.002, seed=number)
        folders.append(session.write(folder / name))
    return folders


def run(monkeypatch: pytest.MonkeyPatch, *words: object) -> int:
    monkeypatch.setattr(sys, "argv", ["aa", *map(str, words)])
    return aa.main()


def test_sessions_are_kept_split_and_evaluated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data, sessions = tmp_path / "aa.csv", made(tmp_path, 7)
    slowed = Synthetic(mpis={"mpich": {"bare": USUAL["bare"]}}, samples=3, slowdown=1.1, seed=9).write(
        tmp_path / "9-slow"
    )
    facts = (slowed / "session.json").read_text()
    (slowed / "session.json").write_text(facts.replace('"run",', '"run", "--inject-slowdown", "1.1",'))
    assert run(monkeypatch, "--data", data, *sessions, slowed) == 1, "without noise a margin of 0 is chosen"
    said = capsys.readouterr()
    assert "pairs with an alarm, of 6 chosen on" in said.out, "3 pairs of 3 sessions on each of 2 MPIs"
    for mpi in ("mpich", "openmpi"):
        assert f"| Example CPU, 2 cores | {mpi} | 4 | 2 | 0 | 78 % | 6 | 0 |" in said.out
        assert f"| Example CPU, 2 cores | {mpi} | 3 | 3 | 0 | 63 % | 9 | 0 |" in said.out, "those in no pair, halved"
    assert "the margin chosen is 0.0, and compare uses 0.02" in said.err
    again = aa_sessions.read(data)
    assert [one.slowdown for one in again if one.slowdown != 1] == [1.1]
    assert run(monkeypatch, "--data", data, sessions[0]) == 2
    assert "kept in" in capsys.readouterr().err


def test_sessions_of_another_program_or_place_are_no_pair(tmp_path: Path) -> None:
    one, other = aa_sessions.reduce(made(tmp_path, 2), "tested")[::2]
    assert len(aa.all_pairs([one, other])) == 1
    other.about += " with another commit"
    assert aa.all_pairs([one, other]) == aa.disjoint_pairs([one, other]) == []


def test_halves_share_no_launch(kept: list[Kept]) -> None:
    for (first, second), one in zip(aa.halves(kept), kept, strict=True):
        for key, entry in one.points.items():
            mine = [set(half.points[key].launches) for half in (first, second)]
            assert not mine[0] & mine[1]
            assert mine[0] | mine[1] == set(entry.launches)


def test_five_percent_slower_is_found_against_the_first_session(kept: list[Kept]) -> None:
    slowed = [new for base, new in aa.slowed_pairs(kept) if base is kept[0]]
    assert len(slowed) == 2
    assert aa.tally([(kept[0], new) for new in slowed]).alarms == 2


def test_what_is_kept_gives_the_verdict_of_the_whole_sessions(tmp_path: Path) -> None:
    """Also of a slower session, and of one that was disturbed, of which nothing is told."""
    made = [
        Synthetic(mpis={"mpich": {"bare": USUAL["bare"]}}, samples=3, launch_spread=0.002, seed=seed, slowdown=slowdown)
        .write(tmp_path / f"2026010{seed}-000000-again")
        for seed, slowdown in enumerate((1.0, 1.1, 1.1), start=1)
    ]  # fmt: skip
    for record in made[2].glob("records/*.jsonl"):
        record.write_text(record.read_text().replace('"steal_s": 0.0', '"steal_s": 1.0'))
    data = tmp_path / "aa.csv"
    with data.open("w") as stream:
        aa_sessions.write(aa_sessions.reduce(made, "tested"), stream)
    base, *others = aa_sessions.read(data)
    said = []
    for path, other in zip(made[1:], others, strict=True):
        points, session = judge_points(base.points, other.points, MARGIN, FALSE_ALARMS)
        whole = compare(made[0], path)
        assert [point.verdict for point in points] == [point.verdict for point in whole.points]
        assert session.verdict == whole.session.verdict
        said.append(session.verdict)
    assert said == [Judgement.SLOWER, Judgement.CANNOT_TELL]
    assert aa.tally([(base, others[1])]) == Tally(), "a pair of which nothing can be told is no decision"


def test_a_session_in_a_pair_is_not_halved(kept: list[Kept]) -> None:
    paired = {(one.name, one.mpi) for pair in aa.disjoint_pairs(aa.used(kept, "tested")) for one in pair}
    assert not paired & {(one.name, one.mpi) for one in aa.alone(kept)}
    assert len(aa.alone(kept)) + len(paired) == sum(one.slowdown == 1 for one in kept)
