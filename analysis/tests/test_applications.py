# SPDX-License-Identifier: BSD-3-Clause
"""Claims and figures of the applications of the papers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.claims.table import Row
from analysis.claims.table import table as claims_table
from analysis.evidence import Evidence
from analysis.figures.toolkit import Drawn
from analysis.records.load import load
from analysis.report.findings import sections
from analysis.subject import draw_all, subjects
from analysis.tests.synthetic import Behaviour, Synthetic
from analysis.tests.test_claims import rows_of, study_session

KERNELS = ("is", "ep", "cg", "mg", "ft", "lu")


def decisions(session: Path, study: str) -> list[str]:
    return [row.decision for row in claims_table([session]).rows if row.study == study and row.mpi]


def figures_of(session: Path) -> dict[str, Drawn]:
    return {figure.name: figure for figure in draw_all(Evidence(load([session])), "made up")}


def drawn_of(session: Path, name: str) -> Drawn:
    return figures_of(session)[name]


def kernels(factor: float, mode: str = "blocking", of: tuple[str, ...] = KERNELS) -> list[dict[str, Any]]:
    """Each takes a time of its own, times `factor`."""
    return [
        {"point": {"kernel": name, "class": "S", "mode": mode},
         "samples": {"elapsed_s": [factor * (number + 1.0)] * 3, "cpu_s": [factor] * 3, "comm_s": [factor] * 3}}
        for number, name in enumerate(of)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("idle", "adaptive", "expected"),
    [(1.01, 0.99, ["reproduced"] * 4), (1.05, 0.9, ["not reproduced", "reproduced", "reproduced", "not reproduced"])],
)
def test_what_the_engine_costs_the_nas_benchmarks(
    tmp_path: Path, idle: float, adaptive: float, expected: list[str]
) -> None:
    measured = {"bare": kernels(1.0), "idle": kernels(idle), "adaptive": kernels(adaptive), "explicit": kernels(1.0)}
    session = study_session(tmp_path / "s", "nas", measured)
    assert decisions(session, "P7") == expected
    figure = drawn_of(session, "nas")
    assert set(figure.points["kernel"]) == set(KERNELS)
    assert figure.subject == "P7"


def causes(session: Path) -> list[str]:
    """What is said of why claims are not reproduced."""
    (section,) = sections(claims_table([session]), Evidence(load([session])), [])
    return [sentence for sentence in section.sentences if sentence.startswith("Likely cause")]


def test_a_loss_is_put_down_to_the_core_and_a_gain_to_the_messages(tmp_path: Path) -> None:
    measured = {"bare": kernels(0.5), "explicit": kernels(1.0), "idle": kernels(1.05), "adaptive": kernels(0.45)}
    loss, gain = causes(study_session(tmp_path / "s", "nas", measured))
    assert "takes that core's time" in loss and "CPU time of the process, idle / explicit: MPICH 1.05" in loss
    assert "moves messages" in gain and "time in MPI calls, adaptive / bare: MPICH 0.9" in gain


def test_a_cause_that_too_few_launches_show_says_so(tmp_path: Path) -> None:
    measured = {"bare": kernels(0.5), "explicit": kernels(1.0), "idle": kernels(1.05), "adaptive": kernels(0.45)}
    said = causes(study_session(tmp_path / "s", "nas", measured, launches=3))
    assert len(said) == 2
    assert all(", spread of 3 launches (fewer than 6" in sentence for sentence in said)
    assert not any("spread" in sentence for sentence in causes(study_session(tmp_path / "t", "nas", measured)))


def test_one_slow_kernel_is_enough(tmp_path: Path) -> None:
    slow = [*kernels(1.0)[:-1], kernels(1.1)[-1]]
    measured = {"idle": slow, **dict.fromkeys(("bare", "explicit", "adaptive"), kernels(1.0))}
    session = study_session(tmp_path / "s", "nas", measured)
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
    figures = draw_all(Evidence(load([several])), "made up")
    assert {figure.name: figure.title.partition(" (")[2] for figure in figures} == {
        "fft-fields8-fieldreal": "8 fields, real)",
        "fft-fields8-fieldcomplex": "8 fields, complex)",
        "fft-fields1-chunks2": "1 field, 2 chunks)",
    }
    (figure,) = draw_all(Evidence(load([alone])), "made up")
    assert figure.name == "fft" and "(" not in figure.title


@pytest.mark.parametrize("name", ["P7", "npb-overlap", "R3", "F4", "G1", "G5"])
def test_each_claim_on_an_application_names_a_figure_of_its_subject(name: str) -> None:
    (subject,) = [subject for subject in subjects() if subject.id == name]
    assert {claim.figure for claim in subject.claims} <= {getattr(figure, "name", "") for figure in subject.figures} - {
        ""
    }


MB_80 = 80_000_000


def row_of(session: Path, study: str) -> Row:
    (row,) = [row for row in claims_table([session]).rows if row.study == study and row.mpi]
    return row


def early(share: float, posting: str = "receives-first", size: int = 1 << 20) -> dict[str, Any]:
    return {"point": {"posting": posting, "size_bytes": size}, "samples": {"arrived_early": [share] * 3}}


def test_halos_that_come_early_are_seen(tmp_path: Path) -> None:
    good = study_session(tmp_path / "good", "early-arrival", {"bare": [early(1.0), early(0.0, "sends-first")]})
    assert decisions(good, "G2") == ["reproduced"] * 2
    assert "100%" in drawn_of(good, "early_arrival").found


def test_where_none_comes_early_the_engine_shows_the_cause(tmp_path: Path) -> None:
    session = study_session(tmp_path / "bad", "early-arrival", {"bare": [early(0.0)], "adaptive": [early(1.0)]})
    assert row_of(session, "G2").decision == "not reproduced"
    evidence = Evidence(load([session]))
    (section,) = sections(claims_table([session]), evidence, draw_all(evidence, ""))
    assert "the same share with adaptive: MPICH 1" in " ".join(section.sentences)


def inflated(folder: Path, study: str, efficiency: float, size: int = 1 << 20) -> Path:
    made = Synthetic(
        mpis={"mpich": {"bare": Behaviour(efficiency), "adaptive": Behaviour(0.97, 1.02)}},
        study=study,
        sizes=(size,),
        comp_over_comm=(0.25, 0.5, 1.0, 2.0),
    )
    return made.write(folder)


@pytest.mark.parametrize(("efficiency", "decision"), [(1.0, "reproduced"), (0.0, "not reproduced")])
def test_the_run_time_is_flat_or_not(tmp_path: Path, efficiency: float, decision: str) -> None:
    session = inflated(tmp_path / "s", "computation-inflation", efficiency, 64 << 10)
    assert row_of(session, "G3").decision == decision
    figure = drawn_of(session, "computation_inflation")
    bare = figure.points[figure.points["variant"] == "bare"].sort_values("comp_over_comm")
    expected = [1.0, 1.0, 1.0, 2.0] if efficiency else [1.25, 1.5, 2.0, 3.0]
    assert np.allclose(bare["value"], expected, rtol=0.05), "total / comm"
    assert "bare" in figure.found


def test_80_mb_are_decided_and_drawn(tmp_path: Path) -> None:
    session = inflated(tmp_path / "s", "large-messages", 0.05, MB_80)
    assert row_of(session, "G4").decision == "reproduced"
    assert drawn_of(session, "large_messages").subject == "G4"


def test_a_timer_that_does_not_show_in_ep(tmp_path: Path) -> None:
    points = [
        {"point": {"timer_ms": period, "class": "A"}, "samples": {"elapsed_s": [0.5, 0.5001, 0.4999]}}
        for period in (1, 10, 100)
    ]
    session = study_session(tmp_path / "s", "timer-period-ep", {"timer": points})
    assert row_of(session, "P5").decision == "reproduced"
    assert set(drawn_of(session, "timer_period_ep").points["value"]) == {1.0}


def test_placements_that_a_machine_lacks_are_gaps_in_the_figure(tmp_path: Path) -> None:
    skipped = {"status": "skipped", "reason": "2 cores a node are needed and there are 1", "samples": {}}
    points: list[dict[str, Any]] = [
        {"point": {"placement": "shared"}, "samples": {"elapsed_s": [0.1, 0.11]}},
        {"point": {"placement": "dedicated"}, **skipped},
    ]
    session = study_session(tmp_path / "s", "placement", {"bare": points, "adaptive": points})
    figure = drawn_of(session, "placement_minighost")
    assert set(figure.points["status"]) == {"ok", "skipped"}
    (section,) = sections(claims_table([session]), Evidence(load([session])), [figure])
    assert "nothing was claimed" in section.sentences[0]


def solve(mode: str, allreduce_s: float, *, barrier: bool = False, packets: bool = False) -> dict[str, Any]:
    """A solve that computes for a second and waits for its sums."""
    samples = {"comp_s": 1.0, "comm_s": allreduce_s + 0.1, "elapsed_s": 1.1 + allreduce_s}
    samples |= {"irecv_s": 0.0, "send_s": 0.05, "wait_s": 0.05, "allreduce_s": allreduce_s}
    samples |= {"barrier_s": allreduce_s / 2} if barrier else {}
    for call in ("irecv", "send", "wait", "allreduce", "outside") if packets else ():
        samples |= {f"{call}_packets_in": 10.0, f"{call}_packets_out": 30.0 if call == "outside" else 20.0}
    point = {"nx": 8, "ny": 8, "nz": 8, "mode": mode, "barrier": barrier, "packets": packets}
    return {"point": point, "samples": {name: [value] * 3 for name, value in samples.items()}}


def solves(overlapped: float, pipelined: float) -> list[dict[str, Any]]:
    modes = {"blocking": 0.2, "overlapped": overlapped, "pipelined": pipelined}
    return [
        *(solve(mode, allreduce, packets=packets) for packets in (False, True) for mode, allreduce in modes.items()),
        *(solve(mode, modes[mode], barrier=True) for mode in ("blocking", "overlapped")),
    ]


def test_overlap_that_slows_the_dot_product_is_told_from_the_solve(tmp_path: Path) -> None:
    session = study_session(tmp_path / "s", "minife-packets", {"bare": solves(0.4, 0.1)})
    slower, removed = rows_of(claims_table([session]), "G1")
    assert [row.value for row in (slower, removed)] == [pytest.approx(2.0), pytest.approx(1.2 / 1.3)]
    assert (slower.decision, removed.decision) == ("reproduced", "reproduced")


def test_where_the_dot_product_is_not_slower_the_barrier_shows_the_cause(tmp_path: Path) -> None:
    session = study_session(tmp_path / "s", "minife-packets", {"bare": solves(0.1, 0.5)})
    assert [row.decision for row in rows_of(claims_table([session]), "G1")] == ["not reproduced"] * 2
    evidence = Evidence(load([session]))
    (section,) = sections(claims_table([session]), evidence, draw_all(evidence, ""))
    said = " ".join(section.sentences)
    assert "time in a barrier before each Allreduce, overlap on / off, bare: MPICH 0.5" in said
    assert "time outside of MPI calls, pipelined / overlap off, bare: MPICH 1" in said


def test_time_and_packets_by_call_are_drawn_with_what_is_outside_of_calls(tmp_path: Path) -> None:
    session = study_session(tmp_path / "s", "minife-packets", {"bare": solves(0.4, 0.1), "adaptive": solves(0.3, 0.1)})
    drawn = figures_of(session)
    packets, time = drawn["minife_packets"].points, drawn["minife_time"]
    assert set(packets["call"]) == {"irecv", "send", "wait", "allreduce", "outside"}
    outside = packets[(packets["call"] == "outside") & (packets["variant"] == "bare")]
    assert set(outside["value"]) == {40.0}
    assert len(outside) == 3, "one a mode"
    assert set(time.points["call"]) == {"irecv", "send", "wait", "allreduce", "barrier", "comp"}
    assert "MPICH, overlapped, barrier, bare: outside of MPI calls" in time.found


MACHINE = {"cores": 8}


def point(quantity: str, value: float, **parameters: Any) -> dict[str, Any]:
    return {"point": parameters, "samples": {quantity: [value, value * 1.001, value * 0.999]}}


def latencies(slope: float) -> list[dict[str, Any]]:
    """User-level threads wait `slope` longer a thread; kernel threads ten times as long as they."""
    return [
        point("mean_latency_s", factor * (1e-5 + slope * threads), threading=threading, threads=threads)
        for threading, factor in (("kernel", 10), ("ult", 1))
        for threads in (1, 8)
    ]


def test_f1_compares_threads_of_the_same_kind_and_grows_over_user_level_ones(tmp_path: Path) -> None:
    measured = {"offload": latencies(1e-7), "bare-multiple": latencies(1e-5)}
    session = study_session(tmp_path / "s", "concurrent-latency", measured, machine=MACHINE)
    faster, flat = rows_of(claims_table([session]), "F1")[:2]
    assert faster.value == pytest.approx(1.08 / 9, rel=0.01)
    assert flat.value == pytest.approx(1.08 / 1.01, rel=0.01)
    assert (faster.decision, flat.decision) == ("reproduced", "reproduced")
    assert set(figures_of(session)) == {"concurrent_latency"}


def test_f2_follows_user_level_threads_alone(tmp_path: Path) -> None:
    points = [
        point("remainder_s", remainder, threading=threading, mat_size=size)
        for threading, remainders in (("ult", (0.1, 0.02)), ("phases", (0.1, 0.3)))
        for size, remainder in zip((100, 2000), remainders, strict=True)
    ]
    session = study_session(tmp_path / "s", "ult-overlap", {"offload": points})
    (row,) = rows_of(claims_table([session]), "F2")
    assert row.decision == "reproduced"
    assert row.value == pytest.approx(0.2, rel=0.01)
    assert set(figures_of(session)) == {"ult_overlap"}


def test_f3_holds_the_two_ways_against_each_other(tmp_path: Path) -> None:
    points = []
    for waiting, elapsed, imbalance in (("remove", 1.0, 1.02), ("reinsert", 2.0, 1.5)):
        both = point("elapsed_s", elapsed, waiting=waiting)
        both["samples"]["imbalance"] = [imbalance] * 3
        points.append(both)
    session = study_session(tmp_path / "s", "waiting", {"offload": points}, machine=MACHINE)
    rows = rows_of(claims_table([session]), "F3")
    assert [row.value for row in rows] == [pytest.approx(0.5, rel=0.01), pytest.approx(0.68, rel=0.01)]
    assert set(figures_of(session)) == {"waiting_time", "waiting_balance"}


def threaded(comm: float, comp: float) -> list[dict[str, Any]]:
    points = []
    for threading, factor in (("kernel", 1.0), ("ult", 2.0)):
        whole = point("elapsed_s", comm * factor + comp, threading=threading, nx=24, ny=24, nz=24)
        whole["samples"] |= {"comm_s": [comm * factor] * 3, "comp_s": [comp] * 3, "allreduce_s": [comm / 2] * 3}
        points.append(whole)
    return points


def test_f4_holds_offloaded_user_level_threads_against_kernel_threads_of_the_mpi(tmp_path: Path) -> None:
    measured = {"offload": threaded(0.1, 1.0), "bare-multiple": threaded(0.4, 1.0), "bare": threaded(0.3, 1.0)}
    session = study_session(tmp_path / "s", "minife-threads", measured)
    study_session(tmp_path / "s", "minife-threads", {"bare": threaded(0.35, 1.0)}, mpi="openmpi")
    less, faster = [row for row in rows_of(claims_table([session]), "F4") if row.mpi == "mpich"]
    assert less.value == pytest.approx(0.2 / 0.4, rel=0.01)
    assert faster.value == pytest.approx(1.2 / 1.3, rel=0.01)
    assert (less.decision, faster.decision) == ("reproduced", "not testable here"), "on fewer than four cores"
    assert set(figures_of(session)) == {"minife_threads"}
