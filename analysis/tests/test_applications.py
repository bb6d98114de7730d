# SPDX-License-Identifier: BSD-3-Clause
"""P7, npb-overlap, R3 and G5: figures and claims on records whose truth is known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from analysis import catalogue
from analysis.claims.table import table as claims_table
from analysis.evidence import Evidence
from analysis.figures.toolkit import Drawn
from analysis.records.load import load
from analysis.report.findings import sections
from analysis.tests.test_claims import study_session

KERNELS = ("is", "ep", "cg", "mg", "ft", "lu")


def decisions(session: Path, study: str) -> list[str]:
    return [row.decision for row in claims_table([session]).rows if row.study == study and row.mpi]


def drawn_of(session: Path, name: str) -> Drawn:
    return next(figure for figure in catalogue.draw_all(Evidence(load([session])), "made up") if figure.name == name)


def kernels(factor: float, mode: str = "blocking", of: tuple[str, ...] = KERNELS) -> list[dict[str, Any]]:
    """Each takes a time of its own, times `factor`."""
    return [
        {"point": {"kernel": name, "class": "S", "mode": mode},
         "samples": {"elapsed_s": [factor * (number + 1.0)] * 3, "cpu_s": [factor] * 3, "comm_s": [factor] * 3}}
        for number, name in enumerate(of)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("idle", "adaptive", "expected"),
    [
        (1.01, 0.99, ["reproduced"] * 4),
        (1.05, 0.9, ["not reproduced", "reproduced", "reproduced", "not reproduced"]),
    ],
)
def test_what_the_engine_costs_the_nas_benchmarks(
    tmp_path: Path, idle: float, adaptive: float, expected: list[str]
) -> None:
    measured = {"bare": kernels(1.0), "idle": kernels(idle), "adaptive": kernels(adaptive)}
    session = study_session(tmp_path / "s", "nas", measured)
    assert decisions(session, "P7") == expected
    figure = drawn_of(session, "nas")
    assert set(figure.points["kernel"]) == set(KERNELS)
    assert figure.chapter == "P7"


def causes(session: Path) -> list[str]:
    """What is said of why claims are not reproduced."""
    (section,) = sections(claims_table([session]), Evidence(load([session])), [])
    return [sentence for sentence in section.sentences if sentence.startswith("Likely cause")]


def test_a_loss_is_put_down_to_the_core_and_a_gain_to_the_messages(tmp_path: Path) -> None:
    measured = {"bare": kernels(1.0), "idle": kernels(1.05), "adaptive": kernels(0.9)}
    loss, gain = causes(study_session(tmp_path / "s", "nas", measured))
    assert "takes that core's time" in loss and "CPU time of the process, idle / bare: MPICH 1.05" in loss
    assert "moves messages" in gain and "time in MPI calls, adaptive / bare: MPICH 0.9" in gain


def test_a_cause_that_too_few_launches_show_says_so(tmp_path: Path) -> None:
    measured = {"bare": kernels(1.0), "idle": kernels(1.05), "adaptive": kernels(0.9)}
    said = causes(study_session(tmp_path / "s", "nas", measured, launches=3))
    assert len(said) == 2
    assert all(", spread of 3 launches (fewer than 6" in sentence for sentence in said)
    assert not any("spread" in sentence for sentence in causes(study_session(tmp_path / "t", "nas", measured)))


def test_one_slow_kernel_is_enough(tmp_path: Path) -> None:
    slow = [*kernels(1.0)[:-1], kernels(1.1)[-1]]
    session = study_session(tmp_path / "s", "nas", {"bare": kernels(1.0), "idle": slow, "adaptive": kernels(1.0)})
    assert decisions(session, "P7") == ["not reproduced", "reproduced", "reproduced", "reproduced"]


def test_overlap_is_compared_with_the_published_order(tmp_path: Path) -> None:
    both = ("cg", "ft")
    bare = [*kernels(1.0, of=both), *kernels(1.1, "overlapped", both)]
    adaptive = [*kernels(1.0, of=both), *kernels(0.8, "overlapped", both)]
    session = study_session(tmp_path / "s", "npb-overlap", {"bare": bare, "adaptive": adaptive})
    assert decisions(session, "npb-overlap") == ["reproduced", "reproduced"]
    assert set(drawn_of(session, "npb_overlap").points["mode"]) == {"blocking", "overlapped"}


def ghosts(*times: float) -> list[dict[str, Any]]:
    """Of the four ways, for both stencils."""
    ways = (("blocking", "blocking", 2), ("nonblocking", "late", 2), ("direct", "late", 18), ("overlapped", "late", 18))
    return [
        {"point": {"mode": mode, "reduction": reduction, "stencil": stencil, "neighbours": 26},
         "samples": {"elapsed_s": [time] * 3, "comp_s": [0.5] * 3, "wait_s": [time / 2] * 3, "messages": [number] * 3}}
        for stencil in (7, 27)
        for time, (mode, reduction, number) in zip(times, ways, strict=True)
    ]  # fmt: skip


def test_a_nonblocking_minighost_is_compared_with_the_published_one(tmp_path: Path) -> None:
    measured = {"bare": ghosts(1.0, 1.0, 1.2, 1.1), "adaptive": ghosts(1.0, 1.0, 1.1, 0.7)}
    session = study_session(tmp_path / "s", "minighost-nonblocking", measured)
    assert decisions(session, "G5") == ["reproduced", "not reproduced", "reproduced"]
    figure = drawn_of(session, "minighost_nonblocking")
    assert set(figure.points["stencil"]) == {7, 27}
    evidence = Evidence(load([session]))
    (section,) = sections(claims_table([session]), evidence, [figure])
    assert "messages that a rank sends, 26 neighbours at once / phases: MPICH 9" in " ".join(section.sentences)


def transforms(blocking: float, pipelined: float) -> list[dict[str, Any]]:
    return [
        {"point": {"nx": 64, "ny": 64, "nz": 64, "fields": 4, "mode": mode},
         "samples": {"elapsed_s": [time] * 3, "comp_s": [time / 2] * 3, "comm_s": [time / 2] * 3}}
        for mode, time in (("blocking", blocking), ("pipelined", pipelined))
    ]  # fmt: skip


@pytest.mark.parametrize(("pipelined", "decision"), [(0.52, "reproduced"), (0.9, "not reproduced")])
def test_a_pipeline_of_transposes_is_compared_with_blocking_ones_of_the_same_mpi(
    tmp_path: Path, pipelined: float, decision: str
) -> None:
    session = study_session(tmp_path / "s", "fft", {"bare": transforms(1, 1), "adaptive": transforms(1, pipelined)})
    rows = [row for row in claims_table([session]).rows if row.study == "R3" and row.claim.startswith("A pipeline")]
    (row,) = rows
    assert row.decision == decision
    assert row.value == pytest.approx(pipelined)
    if decision == "not reproduced":
        cause = "nothing travels; time outside of MPI calls, pipelined with adaptive / blocking and bare: MPICH 0.9"
        assert cause in causes(session)[-1]


def test_what_stands_apart_is_named_where_there_are_several(tmp_path: Path) -> None:
    points = [
        {"point": point, "samples": {"elapsed_s": [1.0] * 3}}
        for point in (
            {"nx": 64, "fields": 8, "field": "real", "mode": "blocking"},
            {"nx": 64, "fields": 8, "field": "complex", "mode": "blocking"},
            {"nx": 64, "fields": 1, "mode": "chunked", "chunks": 2},
        )
    ]
    several, alone = (study_session(tmp_path / name, "fft", {"bare": chosen}) for name, chosen in
                      (("several", points), ("alone", points[:1])))  # fmt: skip
    figures = catalogue.draw_all(Evidence(load([several])), "made up")
    assert {figure.name: figure.title.partition(" (")[2] for figure in figures} == {
        "fft-fields8-fieldreal": "8 fields, real)",
        "fft-fields8-fieldcomplex": "8 fields, complex)",
        "fft-fields1-chunks2": "1 field, 2 chunks)",
    }
    (figure,) = catalogue.draw_all(Evidence(load([alone])), "made up")
    assert figure.name == "fft" and "(" not in figure.title


@pytest.mark.parametrize("name", ["P7", "npb-overlap", "R3", "F4", "G1", "G5"])
def test_each_claim_on_an_application_names_a_figure_of_its_chapter(name: str) -> None:
    (chapter,) = [chapter for chapter in catalogue.CHAPTERS if chapter.id == name]
    assert {claim.figure for claim in chapter.claims} <= {getattr(figure, "name", "") for figure in chapter.figures} - {
        ""
    }
