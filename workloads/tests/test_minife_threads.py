# SPDX-License-Identifier: BSD-3-Clause
"""miniFE with a thread for each neighbour: the same solutions as one thread's, by threads of both kinds."""

from __future__ import annotations

import pytest

from .conftest import ONCE, Launcher, assert_refused, assert_valid, measure

pytestmark = pytest.mark.mpi

SIZE = "nx=10,ny=10,nz=10,cores=2"
WAITS = {"bare": "test-and-yield", "offload": "suspending"}
THREADING = ("kernel", "ult")


def of_threads(launcher: Launcher, variant: str = "bare") -> Launcher:
    if not (launcher.build / "bin" / "minife_threads").exists():
        pytest.skip("the workload minife_threads is not built: Boost.Fiber is missing")
    return launcher.of("minife_threads", variant)


@pytest.mark.parametrize("variant", WAITS)
@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_threads_of_both_kinds_solve_as_one_does(mpich: Launcher, ranks: int, variant: str) -> None:
    points = [f"{SIZE},threading={threading}" for threading in THREADING]
    result = measure(of_threads(mpich, variant), ranks, "solve", *points)
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
def test_on_each_mpi(launcher: Launcher, variant: str) -> None:
    measure(of_threads(launcher, variant), 4, "solve", *(f"{SIZE},threading={threading}" for threading in THREADING))


@pytest.mark.parametrize("threading", THREADING)
def test_one_wrong_value_of_a_halo_fails_the_point(mpich: Launcher, threading: str) -> None:
    point = f"--point=nx=12,ny=12,nz=12,threading={threading}"
    result = of_threads(mpich).run(2, "solve", point, *ONCE, preload="wrong_kernel")
    assert result.status == 1
    assert_valid(result)
    assert [line["status"] for line in result.points] == ["failed"]
    assert "b - A x and the residual that they followed differ by" in result.points[0]["reason"]


def test_a_mistake_is_one_sentence_and_status_2(mpich: Launcher) -> None:
    result = of_threads(mpich).run(10, "solve", "--point=nx=2,ny=2,nz=2")
    assert_refused(result, "minife_threads", "10 ranks cannot share 3 x 3 x 3 nodes cut in halves: start 9 or")


def test_what_memory_does_not_hold_is_refused_before_it_is_touched(mpich: Launcher) -> None:
    """Also where it is the second point: nothing is measured before all is known to fit."""
    arguments = ("--point=nx=12,ny=12,nz=12", "--point=nx=400,ny=400,nz=400")
    result = of_threads(mpich).run(2, "solve", *arguments, preload="little_memory")
    assert_refused(result, "minife_threads", "400 x 400 x 400 elements takes ")
    assert "GB of memory a rank, and 4.0 GB are there for each" in result.errors
