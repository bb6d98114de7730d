# SPDX-License-Identifier: BSD-3-Clause
"""miniFE: each solve holds its residual against b - A x and its solution against the exact one, for all modes and cuts;
what the calls and the packets of each add up to; a wrong value of a halo is seen; the same of minife_threads."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

import pytest

from .conftest import ONCE, Launcher, Result, assert_failed, full, measure

pytestmark = pytest.mark.mpi

MODES = ("blocking", "overlapped", "pipelined")
VARIANTS = ("bare", "adaptive", "idle", "offload")
SIZES = ("nx=12,ny=12,nz=12", "nx=7,ny=20,nz=5", "nx=2,ny=2,nz=9")
CALLS = {
    "blocking": {"irecv", "send", "wait", "allreduce"},
    "overlapped": {"irecv", "send", "wait", "allreduce"},
    "pipelined": {"irecv", "send", "wait", "allreduce", "allreduce_wait"},
}
ALWAYS = {"elapsed_s", "comp_s", "comm_s", "cpu_s", "iterations", "true_residual"}
TRAFFIC = ("packets_in", "packets_out", "bytes_in", "bytes_out")


def points(size: str) -> list[str]:
    return [f"{size},mode={mode}" for mode in MODES]


def value(result: Result, point: int, rank: int, quantity: str) -> float:
    ranks = len(result.end["ranks"])
    return float(statistics.median(result.points[(point * ranks) + rank]["samples"][quantity]))


@pytest.mark.parametrize("ranks", [1, 2, *(full(ranks) for ranks in (3, 4, 5, 8))])
def test_every_mode_solves_on_any_cut(mpich: Launcher, ranks: int) -> None:
    """Three ranks are no process grid: one block has two neighbours on one side."""
    sizes = SIZES if ranks <= 2 else SIZES[1:2]
    result = measure(mpich.of("minife"), ranks, "solve", *(point for size in sizes for point in points(size)))
    for number in range(len(sizes)):
        blocking, overlapped, pipelined = (
            value(result, (number * len(MODES)) + mode, 0, "iterations") for mode in range(len(MODES))
        )
        assert blocking == overlapped, "the same sums, in the same order"
        assert abs(pipelined - blocking) <= 2
    assert all(0 < line["samples"]["true_residual"][0] < 1.01e-10 for line in result.points), "and 1e-10 is the goal"


def test_as_many_iterations_as_asked_are_verified_too(mpich: Launcher) -> None:
    """miniFE's 200 are too few for a large grid: the residual that is left is allowed for."""
    result = measure(
        mpich.of("minife"), 2, "solve", *(f"{point},iterations=9" for point in points("nx=20,ny=20,nz=20"))
    )
    assert [value(result, number, 0, "iterations") for number in range(len(MODES))] == [9, 9, 9]
    blocking, overlapped, pipelined = (value(result, number, 0, "true_residual") for number in range(len(MODES)))
    assert overlapped == blocking
    assert pipelined == pytest.approx(blocking, rel=1e-9)


def test_residuals_are_replaced_on_the_way(mpich: Launcher) -> None:
    """More than 50 iterations: what was followed until then agrees with what is computed anew."""
    result = measure(mpich.of("minife"), 2, "solve", "nx=28,ny=28,nz=28,mode=pipelined")
    assert value(result, 0, 0, "iterations") > 50


@pytest.mark.parametrize("variant", ["adaptive", full("idle"), full("offload")])
def test_under_the_engine(mpich: Launcher, variant: str) -> None:
    result = measure(mpich.of("minife", variant), 2, "solve", *points(SIZES[0]))
    assert {rank["engine"]["preset"] for rank in result.end["ranks"]} == {variant}


@pytest.mark.full
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_on_each_mpi(launcher: Launcher, ranks: int, variant: str) -> None:
    measure(launcher.of("minife", variant), ranks, "solve", *(point for size in SIZES for point in points(size)))


def test_times_of_the_calls_add_up(mpich: Launcher) -> None:
    asked = [*points(SIZES[0]), f"{SIZES[0]},mode=overlapped,barrier=true"]
    calls = [*CALLS.values(), CALLS["overlapped"] | {"barrier"}]
    result = measure(mpich.of("minife"), 2, "solve", *asked)
    for line, expected in zip(result.points, [calls[number // 2] for number in range(8)], strict=True):
        samples = {name: values[0] for name, values in line["samples"].items()}
        assert set(samples) == ALWAYS | {f"{call}_s" for call in expected}
        assert sum(samples[f"{call}_s"] for call in expected) == pytest.approx(samples["comm_s"])
        assert samples["comm_s"] + samples["comp_s"] == pytest.approx(samples["elapsed_s"])


@dataclass(frozen=True)
class OverTcp(Launcher):
    """Two ranks of one node that talk over TCP all the same."""

    def environment(self) -> dict[str, str]:
        return super().environment() | self.mpi.environment("tcp")


@pytest.fixture
def over_tcp(mpich_first: Launcher) -> Launcher:
    fields = {name: getattr(mpich_first, name) for name in ("mpi", "build", "folder")}
    return OverTcp(**fields).of("minife")


def test_packets_of_the_calls_are_those_of_the_halo_and_the_sums(over_tcp: Launcher) -> None:
    asked = [f"nx=16,ny=16,nz=16,mode={mode},packets=true" for mode in MODES]
    result = measure(over_tcp, 2, "solve", *asked)
    for line in result.points:
        samples = {name: values[0] for name, values in line["samples"].items()}
        buckets = CALLS[line["point"]["mode"]] | {"outside"}
        assert {name for name in samples if name.endswith(TRAFFIC)} == {f"{b}_{t}" for b in buckets for t in TRAFFIC}
        halo = samples["iterations"] * 17 * 17 * 8
        for way in ("in", "out"):
            moved = sum(samples[f"{bucket}_bytes_{way}"] for bucket in buckets)
            assert halo < moved < 2 * halo, "a face an iteration, some sums, and envelopes"
            assert sum(samples[f"{bucket}_packets_{way}"] for bucket in buckets) >= samples["iterations"]


def test_packets_that_nobody_could_count_are_no_zeros(mpich: Launcher) -> None:
    result = mpich.of("minife").run(1, "solve", "--point=packets=true", *ONCE)
    assert result.status == 1
    assert [line["status"] for line in result.points] == ["failed"]
    assert "no rank has a TCP connection whose packets could be counted" in result.points[0]["reason"]


@pytest.mark.parametrize("ranks", [2, full(4)])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("edge", [12, full(27)])
def test_one_wrong_value_of_a_halo_fails_the_point(mpich: Launcher, mode: str, ranks: int, edge: int) -> None:
    """Of a node inside: those on the surface are known, and no row uses them. With 27 elements residuals are replaced
    on the way, which must not hide it."""
    point = f"--point=nx={edge},ny={edge},nz={edge},mode={mode}"
    result = mpich.of("minife").run(ranks, "solve", point, *ONCE, preload="wrong_kernel")
    assert_failed(result, "b - A x and the residual that they followed differ by")


# A thread for each neighbour: the same solutions as one thread's, by threads of both kinds.
THREADS_SIZE = "nx=10,ny=10,nz=10,cores=2"
WAITS = {"bare": "test-and-yield", "offload": "suspending"}
THREADING = ("kernel", "ult")


@pytest.mark.parametrize("variant", WAITS)
@pytest.mark.parametrize("ranks", [1, 2, full(4)])
def test_threads_of_both_kinds_solve_as_one_does(mpich: Launcher, ranks: int, variant: str) -> None:
    points = [f"{THREADS_SIZE},threading={threading}" for threading in THREADING]
    result = measure(mpich.of("minife_threads", variant), ranks, "solve", *points)
    alone = measure(mpich.of("minife"), 1, "solve", "nx=10,ny=10,nz=10")
    (iterations,) = alone.points[0]["samples"]["iterations"]
    for line in result.points:
        assert line["role"] == (WAITS[variant] if line["point"]["threading"] == "ult" else "blocking")
        samples = {name: values[0] for name, values in line["samples"].items()}
        assert abs(samples["iterations"] - iterations) <= 1
        assert samples["exchange_s"] + samples["allreduce_s"] == pytest.approx(samples["comm_s"])
    assert result.header["thread_level"]["provided"] == "multiple"


@pytest.mark.full
@pytest.mark.parametrize("variant", WAITS)
def test_threads_on_each_mpi(launcher: Launcher, variant: str) -> None:
    measure(
        launcher.of("minife_threads", variant),
        4,
        "solve",
        *(f"{THREADS_SIZE},threading={threading}" for threading in THREADING),
    )


@pytest.mark.parametrize("threading", THREADING)
def test_one_wrong_value_of_a_halo_of_threads_fails_the_point(mpich: Launcher, threading: str) -> None:
    point = f"--point=nx=12,ny=12,nz=12,threading={threading}"
    result = mpich.of("minife_threads").run(2, "solve", point, *ONCE, preload="wrong_kernel")
    assert_failed(result, "b - A x and the residual that they followed differ by")
