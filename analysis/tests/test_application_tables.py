# SPDX-License-Identifier: BSD-3-Clause
"""The tables of P7, R3, F4, G1, G5 and of NPB with overlap on records whose truth is known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from analysis.documents.applications import document, main
from analysis.evidence import Evidence
from analysis.records.load import load
from analysis.tests.test_applications import ghosts, kernels
from analysis.tests.test_claims import study_session
from analysis.tests.test_gemini import solves

CUBE = {"nx": 8, "ny": 8, "nz": 8}


def printed(session: Path) -> str:
    return document(Evidence(load([session])))


def point(parameters: dict[str, Any], **samples: float) -> dict[str, Any]:
    return {"point": {**CUBE, **parameters}, "samples": {name: [value] * 3 for name, value in samples.items()}}


def test_g1_has_time_and_packets_of_each_call(tmp_path: Path) -> None:
    session = study_session(tmp_path / "s", "minife-packets", {"bare": solves(0.4, 0.1), "adaptive": solves(0.3, 0.1)})
    text = printed(session)
    assert "| time; packets | blocking, bare | blocking, adaptive | overlapped, bare | overlapped, adaptive |" in text
    (sums,) = [line for line in text.splitlines() if line.startswith("| Allreduce or its start")]
    assert "| 200 ms [200 ms, 200 ms]; 10 in, 20 out | 200 ms [200 ms, 200 ms]; 10 in, 20 out | 400 ms" in sums
    (late,) = [line for line in text.splitlines() if line.startswith("| Barrier before")]
    assert "| 100 ms [100 ms, 100 ms] | 100 ms [100 ms, 100 ms] | 200 ms" in late
    (outside,) = [line for line in text.splitlines() if line.startswith("| outside of MPI calls")]
    assert outside.count("1 s [1 s, 1 s]; 10 in, 30 out") == 6
    assert "| a solve | 1.3 s [1.3 s, 1.3 s] |" in text


def test_f4_has_a_row_an_mpi(tmp_path: Path) -> None:
    for mpi, times in (("mpich", 1.0), ("openmpi", 2.0), ("intel-mpi", 3.0)):
        threads = {
            variant: [point({"threading": name}, comm_s=times * seconds, elapsed_s=10.0)]
            for variant, name, seconds in (("bare-multiple", "kernel", 0.5), ("offload", "ult", 0.25))
        }
        study_session(tmp_path / "s", "minife-threads", threads, mpi=mpi)
    text = printed(tmp_path / "s")
    assert "| MPI | kernel, bare-multiple | ult, offload |" in text
    for mpi, kernel, ult in (("MPICH", "500", "250"), ("Open MPI", "1", "500"), ("Intel MPI", "1.5", "750")):
        (row,) = [line for line in text.splitlines() if line.startswith(f"| {mpi}, s, ranks 2, nx 8 |")]
        assert f"| {kernel} " in row and f"| {ult} ms" in row and row.count(" of 10 s") == 2


def test_g5_has_a_step_of_each_way_and_stencil(tmp_path: Path) -> None:
    measured = {"bare": ghosts(1.0, 1.0, 1.2, 1.1), "adaptive": ghosts(1.0, 1.0, 1.1, 0.7)}
    for points in measured.values():
        for each in points:
            each["point"] |= {**CUBE, "steps": 2}
    text = printed(study_session(tmp_path / "s", "minighost-nonblocking", measured))
    assert "| stencil | exchange | messages a rank | bare | adaptive |" in text
    for stencil in (7, 27):
        assert f"| {stencil} | blocking | 1 | 500 ms [500 ms, 500 ms] | 500 ms [500 ms, 500 ms] |" in text
        assert f"| {stencil} | overlapped | 9 | 550 ms [550 ms, 550 ms] | 350 ms [350 ms, 350 ms] |" in text


def test_r3_is_held_against_blocking_and_bare_of_the_same_mpi(tmp_path: Path) -> None:
    def fields(*seconds: float) -> list[dict[str, Any]]:
        modes = ("blocking", "pipelined", "chunked")
        return [point({"mode": mode, "fields": 4}, elapsed_s=time, comp_s=0.6 * time, comm_s=0.4 * time)
                for mode, time in zip(modes, seconds, strict=True)]  # fmt: skip

    measured = {"bare": fields(1, 0.5, 0.5), "mpi-async": fields(2, 2, 2), "adaptive": fields(1, 0.7, 0.8)}
    session = study_session(tmp_path / "s", "fft", measured)
    study_session(tmp_path / "s", "fft", {"bare": fields(1.4, 1, 1), "mpi-async": fields(0.875, 1, 1)}, mpi="openmpi")
    row = (
        "| MPICH, s, ranks 2, nx 8 | 1 s [1 s, 1 s] | 1.50 | pipelined: 700 ms [700 ms, 700 ms] | 0.70 | 0.60 "
        "| Open MPI, mpi-async: 875 ms | 0.80 |"
    )
    assert row in printed(session)


def test_real_fields_and_complex_ones_are_not_compared(tmp_path: Path) -> None:
    """Nor others than as many. A point that does not say it has complex fields."""

    def fields(factor: float, other: float) -> list[dict[str, Any]]:
        kinds = (({"fields": 4}, 1.0), ({"fields": 4, "field": "real"}, 0.5), ({"fields": 1}, 0.1))
        return [point({**kind, "mode": mode}, elapsed_s=share * time, comp_s=0.5 * share, comm_s=0.5 * share)
                for kind, share in kinds for mode, time in (("blocking", factor), ("pipelined", other))]  # fmt: skip

    session = study_session(tmp_path / "s", "fft", {"bare": fields(1, 1), "adaptive": fields(1, 0.7)})
    study_session(tmp_path / "s", "fft", {"bare": fields(0.9, 1)}, mpi="openmpi")
    rows = [line for line in printed(session).splitlines() if line.startswith("| MPICH, s, ranks 2, nx 8, ")]
    for row, (kind, base, best, rival) in zip(rows, (
        ("fields 4, field complex", "1 s", "700 ms", "900 ms"),
        ("fields 4, field real", "500 ms", "350 ms", "450 ms"),
        ("fields 1, field complex", "100 ms", "70 ms", "90 ms"),
    ), strict=True):  # fmt: skip
        assert f"nx 8, {kind} | {base} [" in row
        assert f"| pipelined: {best} [" in row and row.endswith(f"| 0.70 | 0.50 | Open MPI, bare: {rival} | 0.78 |")


def test_one_rank_has_nothing_to_hide(tmp_path: Path) -> None:
    fields = [point({"mode": mode}, elapsed_s=1.0, comp_s=1.0, comm_s=0.0) for mode in ("blocking", "pipelined")]
    text = printed(study_session(tmp_path / "s", "fft", {"bare": fields, "adaptive": fields}))
    assert "| 1 s [1 s, 1 s] | – | pipelined: 1 s [1 s, 1 s] | 1.00 | 1.00 |" in text


def test_p7_has_each_variant_as_a_share_of_bare(tmp_path: Path) -> None:
    measured = {"bare": kernels(2.0), "idle": kernels(2.5), "adaptive": kernels(1.9)}
    session = study_session(tmp_path / "s", "nas", measured)
    study_session(tmp_path / "s", "nas", {"bare": kernels(1.0), "adaptive": kernels(1.0)}, mpi="openmpi")
    text = printed(session)
    assert "| MPI | kernel | as published, bare | of that in MPI calls | adaptive / that | idle / that |" in text
    rows = [line for line in text.splitlines() if line.startswith("| MPICH, s, ranks 1, class S |")]
    assert [row.split(" | ")[1] for row in rows] == ["IS", "EP", "CG", "MG", "FT", "LU"]
    assert rows[1].endswith("| EP | 4 s [4 s, 4 s] | 50 % | 0.95 [0.95, 0.95] | 1.25 [1.25, 1.25] |")
    assert "| Open MPI, s, ranks 1, class S | LU | 6 s [6 s, 6 s] | 17 % | 1.00 [1.00, 1.00] | – |" in text


def test_overlap_of_npb_is_held_against_the_published_order_and_bare(tmp_path: Path) -> None:
    few = ("is", "cg")
    bare = kernels(1.0, of=few) + kernels(0.9, "overlapped", few)
    adaptive = kernels(1.1, of=few) + kernels(0.6, "overlapped", few)
    text = printed(study_session(tmp_path / "s", "npb-overlap", {"bare": bare, "adaptive": adaptive}))
    assert "| blocking, adaptive / that | overlapped, bare / that | overlapped, adaptive / that |" in text
    row = "| CG | 2 s [2 s, 2 s] | 50 % | 1.10 [1.10, 1.10] | 0.90 [0.90, 0.90] | 0.60 [0.60, 0.60] |"
    assert f"| MPICH, s, ranks 1, class S {row}" in text


def test_a_session_without_applications_has_no_tables(tmp_path: Path, capsys: Any) -> None:
    session = study_session(tmp_path / "s", "nas", {"bare": []})
    assert main([str(session)]) == 0
    assert "##" not in capsys.readouterr().out.replace("# Applications", "")
