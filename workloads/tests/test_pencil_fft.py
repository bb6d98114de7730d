# SPDX-License-Identifier: BSD-3-Clause
"""The pencil FFT: each rank holds its spectrum against a serial transform and the way back against the start, for all
modes and grids, also where nothing divides; a wrong chunk is seen; what it refuses."""

from __future__ import annotations

import pytest

from .conftest import ONCE, Launcher, assert_failed, full, measure

pytestmark = pytest.mark.mpi

MODES = ("mode=blocking", "mode=pipelined", "mode=chunked", "mode=chunked,chunks=7")
VARIANTS = ("bare", "adaptive", "idle", "offload")
SIZES = ("nx=16,ny=16,nz=16", "nx=15,ny=13,nz=9,fields=2", "nx=4,ny=31,nz=6,fields=1")
WIDE = (*SIZES[:2], "nx=7,ny=31,nz=6,fields=1")  # for more than 3 in a row: a real row of 4 has 3 waves


def points(rows: int) -> list[str]:
    return [
        f"{size},field={field},row_ranks={rows},{mode}"
        for size in (WIDE if rows > 3 else SIZES)
        for field in ("complex", "real")
        for mode in MODES
    ]


@pytest.mark.parametrize(
    ("ranks", "rows"), [(1, 1), (2, 2), *(full(*cut) for cut in ((2, 1), (3, 3), (4, 1), (4, 2), (4, 4), (6, 3)))]
)
def test_every_mode_is_the_serial_transform(mpich: Launcher, ranks: int, rows: int) -> None:
    measure(mpich.of("pencil_fft"), ranks, "transform", *points(rows))


@pytest.mark.full
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(("ranks", "rows"), [(2, 1), (2, 2), (4, 2), (4, 1), (4, 4)])
def test_on_each_mpi(launcher: Launcher, ranks: int, rows: int, variant: str) -> None:
    measure(launcher.of("pencil_fft", variant), ranks, "transform", *points(rows))


@pytest.mark.parametrize("variant", ["adaptive", full("idle"), full("offload")])
def test_under_the_engine(mpich: Launcher, variant: str) -> None:
    result = measure(mpich.of("pencil_fft", variant), 2, "transform", *points(0))
    assert {rank["engine"]["preset"] for rank in result.end["ranks"]} == {variant}


def test_fftws_own_plan_of_whole_fields_is_the_serial_transform(mpich: Launcher) -> None:
    whole = [f"{size},field={field},mode=fftw" for size in SIZES for field in ("complex", "real")]
    measure(mpich.of("pencil_fft"), 1, "transform", *whole)


@pytest.mark.full
def test_further_repetitions_are_verified_like_the_first(mpich: Launcher) -> None:
    thrice = ("--min-samples=3", "--max-samples=3", "--warmup=0", "--time-box-s=60")
    result = measure(mpich.of("pencil_fft"), 2, "transform", *MODES, options=thrice)
    assert {len(line["samples"]["mops"]) for line in result.points} == {3}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("ranks", "rows"), [(2, 2), full(2, 1), full(4, 2)])
@pytest.mark.parametrize("field", [full("complex"), "real"])
def test_one_wrong_value_in_a_chunk_fails_the_point(
    mpich: Launcher, ranks: int, rows: int, field: str, mode: str
) -> None:
    point = f"--point=nx=16,ny=15,nz=14,field={field},row_ranks={rows},{mode}"
    result = mpich.of("pencil_fft").run(ranks, "transform", point, *ONCE, preload="wrong_kernel")
    assert_failed(result, "forward and backward made")


def test_a_spectrum_that_the_way_back_undoes_is_seen(mpich: Launcher) -> None:
    """Messages in another order, there and back: the field comes back as it was."""
    points = [f"--point=nx=16,ny=16,nz=16,field={field},row_ranks=2,{MODES[0]}" for field in ("complex", "real")]
    result = mpich.of("pencil_fft").run(2, "transform", *points, *ONCE, preload="swapped_messages")
    assert result.status == 1
    assert [line["status"] for line in result.points] == ["failed", "failed"]
    assert all("by a serial transform" in line["reason"] for line in result.points)
