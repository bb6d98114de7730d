# SPDX-License-Identifier: BSD-3-Clause
"""The headline says what is shown, and what is only pointed to; no point passes for another; nothing vanishes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from analysis.claims.table import build
from analysis.evidence import Evidence
from analysis.metrics.evaluate import evaluate
from analysis.records.load import load
from analysis.report import page_tables
from analysis.report.answer import _pays
from analysis.report.findings import sections
from analysis.report.sentences import MpiVerdict, verdict
from analysis.statistics.interval import Interval
from analysis.tests.synthetic import USUAL, Behaviour, Synthetic, changed_points, edited, write_lines

VARIANTS = {"bare": Behaviour(0.95, 1.03), "adaptive": USUAL["adaptive"]}


def session(folder: Path, **changed: Any) -> Path:
    made = {"mpis": {"mpich": VARIANTS}, "launches": 6, "samples": 12, "comp_over_comm": (1.0,), **changed}
    return Synthetic(**made).write(folder)


def told(*sessions: Path) -> list[MpiVerdict]:
    return verdict(evaluate(load(list(sessions)))).mpis


def test_six_settled_launches_show_it(tmp_path: Path) -> None:
    said = verdict(evaluate(load([session(tmp_path / "s")])))
    (mpi,), (answer,) = said.mpis, said.answers
    assert "not certain" not in answer.sentence
    assert mpi.headline == "MPICH progresses by itself."
    assert "Not certain" not in " ".join(mpi.sentences)


def test_a_ratio_that_is_not_the_one_meant_is_said_with_the_verdict_for_it(tmp_path: Path) -> None:
    """The work is that of the MPI that was calibrated: on another one the same point has another ratio."""
    made = session(tmp_path / "s", comp_over_comm=(0.7,), sizes=(65536, 4194304))
    (mpi,) = told(changed_points(made, "*", point={"comp_over_comm": 1.0}))
    assert mpi.headline == "MPICH progresses by itself."
    assert "the computation 0.70 times as long as the communication, measured" in mpi.where
    assert any(said.startswith("At 64 KB (the computation 0.70 times as long") for said in mpi.sentences)


def test_a_setting_of_the_mpis_own_is_named_before_the_engine(tmp_path: Path) -> None:
    """Of Open MPI, for messages of 64 KB to 1 MB that it does not move by itself."""
    setting = "OMPI_MCA_btl_tcp_eager_limit"

    def said(name: str, mpi: str, bare: Behaviour, *sizes: int) -> str:
        behaviours = {mpi: {**VARIANTS, "bare": bare}}
        made = session(tmp_path / name, mpis=behaviours, sizes=sizes)
        (answer,) = verdict(evaluate(load([made]))).answers
        return answer.sentence

    assert f"try {setting}=524288 first" in said("a", "openmpi", Behaviour(0.0), 262144, 4194304)
    assert setting not in said("b", "openmpi", Behaviour(0.9), 262144), "it moves it"
    assert setting not in said("c", "openmpi", Behaviour(0.0), 4194304), "too long"
    assert setting not in said("d", "mpich", Behaviour(0.0), 262144)


@pytest.mark.parametrize(
    ("made", "changed", "doubt"),
    [
        ({"launches": 3}, {}, "only 3 launches were measured and 6 are needed"),
        ({}, {"noise": {"steal_s": 0.5}}, "% of the measured time"),
        ({}, {"noise": {"others_s": 0.5, "watched_s": 1.0}}, "something else took "),
    ],
    ids=["few launches", "disturbed", "others"],
)
def test_anything_less_points_to_it_and_says_why(
    tmp_path: Path, made: dict[str, Any], changed: dict[str, Any], doubt: str
) -> None:
    said = verdict(evaluate(load([changed_points(session(tmp_path / "s", **made), "*", **changed)])))
    (mpi,), (answer,) = said.mpis, said.answers
    assert ", not certain)" in answer.sentence
    assert "MPICH: this points to" in mpi.headline
    assert doubt in mpi.headline
    assert any(one.startswith("Not certain: of bare") and doubt in one for one in mpi.sentences)


@pytest.mark.parametrize(
    ("made", "changed", "remark"),
    [
        ({}, {"converged": False}, "Of bare, adaptive the samples of 6 of 6 launches still changed;"),
        ({"sample_spread": 0.2, "launch_spread": 0.06, "mpis": {"mpich": {**VARIANTS, "bare": Behaviour(-0.9)}}}, {},
         "Of bare the time is known to no better than 5 %;"),
    ],
    ids=["not converged", "noisy"],
)  # fmt: skip
def test_what_the_interval_over_launches_holds_is_said_beside_the_headline(
    tmp_path: Path, made: dict[str, Any], changed: dict[str, Any], remark: str
) -> None:
    (mpi,) = told(changed_points(session(tmp_path / "s", **made), "*", **changed))
    assert "points to" not in mpi.headline
    assert any(said.startswith(remark) for said in mpi.sentences), mpi.sentences


def test_a_headline_holds_for_every_size_that_was_measured(tmp_path: Path) -> None:
    """Above all where the size whose numbers follow is not like the longer ones."""
    made = {"short": (0.95, (65536, 4 << 20)), "long": (0.2, (16 << 20, 32 << 20))}
    short, long = (
        session(tmp_path / name, mpis={"mpich": {"bare": Behaviour(value)}}, sizes=sizes)
        for name, (value, sizes) in made.items()
    )
    for file in (short / "records").glob("*"):
        lines, more = (
            [json.loads(line) for line in (folder / "records" / file.name).read_text().splitlines()]
            for folder in (short, long)
        )
        write_lines(file, [*lines[:-1], *(line for line in more if "point" in line), lines[-1]])
    (mpi,) = told(short)
    assert mpi.headline == (
        "MPICH: from 64 KB to 4 MB it progresses by itself; "
        "from 16 MB to 32 MB it does not progress while the program computes."
    )
    assert mpi.where.startswith("(the numbers: 4 MB messages, ")


def test_an_efficiency_that_says_little_is_told_as_time_added(tmp_path: Path) -> None:
    mpis = {"mpich": {"bare": Behaviour(0.1), "mpi-async": Behaviour(-50.0)}}
    (mpi,) = told(session(tmp_path / "s", mpis=mpis, sizes=(65536, 4 << 20)))
    (other,) = [said for said in mpi.sentences if said.startswith("At 64 KB")]
    assert "bare 0.1" in other
    assert "mpi-async adds " in other
    assert other.count(" to ") == 2, "both have their intervals"
    assert "−50" not in other


def test_of_a_short_message_alone_the_time_added_is_told(tmp_path: Path) -> None:
    mpis = {"mpich": {"bare": Behaviour(-2.0), "mpi-async": Behaviour(-50.0), "adaptive": Behaviour(-369.0)}}
    (mpi,) = told(session(tmp_path / "s", mpis=mpis, sizes=(65536,)))
    said = " ".join(mpi.sentences)
    assert "As it is it adds " in said
    assert "Its own progress thread makes it slower than no overlap at all: adds " in said
    assert "The engine (adaptive) makes it slower than no overlap at all: adds " in said
    assert "−369" not in said and "−50" not in said


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ({64: (1.1, 0.02), 256: (0.9, 0.02), 1024: (0.6, 0.02)}, "pays from 256 KB on for certain"),
        (
            {64: (1.1, 0.02), 256: (0.97, 0.1), 1024: (0.6, 0.02)},
            "pays from 1 MB on for certain, perhaps from 256 KB on",
        ),
        ({64: (1.01, 0.1), 256: (1.03, 0.1), 1024: (0.6, 0.02)}, "pays from 1 MB on for certain"),
        ({64: (0.9, 0.01), 256: (0.8, 0.01)}, "pays from 64 KB on for certain"),
        ({64: (0.9, 0.01), 256: (1.1, 0.01)}, "does not pay at the longest"),
        ({64: (0.9, 0.01), 256: (0.99, 0.05)}, "not shown to pay at the longest"),
        ({64: (0.9, 0.01)}, ""),
    ],
)
def test_from_which_size_on_it_pays_has_two_ends(found: dict[int, tuple[float, float]], said: str) -> None:
    changes = [
        (1024.0 * size, Interval(value, value - half, value + half, "", True)) for size, (value, half) in found.items()
    ]
    assert _pays(changes[::-1]) == said


def test_other_sizes_have_their_doubts_and_what_has_no_value(tmp_path: Path) -> None:
    def other(folder: Path) -> str:
        (mpi,) = told(folder)
        (found,) = [said for said in mpi.sentences if said.startswith("At 64 KB")]
        return found

    made = {"sizes": (65536, 4 << 20), "mpis": {"mpich": {"bare": Behaviour(0.1), "adaptive": Behaviour(0.9)}}}
    assert "certain" not in other(session(tmp_path / "good", **made))
    few = other(session(tmp_path / "few", **made, launches=3))
    assert "; not certain: of bare, adaptive only 3 launches were measured and 6 are needed." in few
    stolen = other(changed_points(session(tmp_path / "stolen", **made), "*bare*", noise={"steal_s": 0.5}))
    assert "; not certain: of bare something else took " in stolen
    hung: dict[str, Any] = {"status": "timeout", "reason": "hung", "samples": {}}
    gone = other(changed_points(session(tmp_path / "gone", **made), "*adaptive*", **hung))
    assert "adaptive no value (timeout: hung)" in gone


def test_launches_that_failed_are_in_the_verdict(tmp_path: Path) -> None:
    made = session(tmp_path / "s", launches=7, sizes=(65536, 4 << 20))
    (mpi,) = told(changed_points(made, "*.000.bare*", status="timeout", reason="hung", samples={}))
    assert "Of bare some launches failed (hung)." in mpi.sentences
    assert any(said.startswith("At 64 KB") and said.endswith("; of bare some launches failed (hung).")
               for said in mpi.sentences)  # fmt: skip


def test_a_spread_is_told_of_the_variants_that_have_one(tmp_path: Path) -> None:
    folder = session(tmp_path / "s")
    for file in sorted((folder / "records").glob("*adaptive*"))[1:]:
        file.unlink()
    (limit,) = [said for said in verdict(evaluate(load([folder]))).limits if "spreads" in said]
    assert limit.startswith("The ranges of adaptive are spreads over 1 launch ") and limit.endswith(" --launches 6.")


def test_sessions_are_told_of_one_by_one(tmp_path: Path) -> None:
    other = session(tmp_path / "b", mpis={"mpich": {"bare": Behaviour(0.1)}}, seed=2)
    assert [mpi.headline for mpi in told(session(tmp_path / "a"), other)] == [
        "MPICH (a) progresses by itself.",
        "MPICH (b) does not progress while the program computes.",
    ]


def test_findings_of_two_sessions_are_told_apart(tmp_path: Path) -> None:
    both = [session(tmp_path / name, mpis={"mpich": USUAL}) for name in ("a", "b")]
    records = load(both)
    sentences = sections(build(records), Evidence(records), [])[0].sentences
    assert any("MPICH, a: " in said and "MPICH, b: " in said for said in sentences)
    alone = load(both[:1])
    assert all("MPICH: " in said for said in sections(build(alone), Evidence(alone), [])[0].sentences if "?" in said)


def with_two_periods(folder: Path) -> Path:
    """A session that measured every point at two values of a parameter that has no words of its own."""
    one = changed_points(session(folder, launches=2), "*", point={"period_us": 10})
    for lines in edited(one):
        lines[-1:-1] = [line | {"point": line["point"] | {"period_us": 20}} for line in lines[1:-1]]
    return one


def test_points_that_differ_in_any_parameter_look_different(tmp_path: Path) -> None:
    records = load([with_two_periods(tmp_path / "s")])
    frame = evaluate(records)
    (table,) = page_tables.results(frame)
    bare = [row[0] for row in table["rows"] if row[1] == "bare"]
    assert bare == ["both, 4 MB, comp/comm 1, period_us 10", "both, 4 MB, comp/comm 1, period_us 20"]
    (mpi,) = verdict(frame).mpis
    assert any("This is of both, 4 MB, comp/comm 1, period_us 10; the tables have 1 other" in x for x in mpi.sentences)


def test_metrics_without_a_finite_value_are_counted_in_the_gaps(tmp_path: Path) -> None:
    made = session(tmp_path / "s", study="send-time", comp_s=(0.0, 0.01))
    records = load([made])
    rows = page_tables.gaps(records, evaluate(records))["rows"]
    (bare,) = [row for row in rows if row[2] == "bare"]
    assert bare[:2] == ["send-time", "mpich"]
    assert bare[3].startswith("1 point: ")
    assert "overlap ratio" in bare[3]
    assert bare[4:] == ["no value", "no computation: nothing to overlap with"]


def test_samples_that_are_no_numbers_are_counted_in_the_gaps(tmp_path: Path) -> None:
    made = session(tmp_path / "s", launches=2)
    file = min((made / "records").glob("*bare*"))
    file.write_text(file.read_text().replace('"total_s": [', '"total_s": [NaN, ', 1))
    records = load([made])
    (row,) = page_tables.gaps(records, evaluate(records))["rows"]
    assert row[2:5] == ["bare", "1 point", "damaged"]
    assert "not a finite number" in row[5]
