# SPDX-License-Identifier: BSD-3-Clause
"""NPB's kernels that communicate: verified by the specification's values on 1, 2 and 4 ranks, blocking and overlapped,
alone and under the engine; a value that a message brings wrong is seen; what they refuse. LU has no overlapped mode:
a front has nothing to compute beside its messages."""

from __future__ import annotations

import pytest

from .conftest import ONCE, Launcher, assert_failed, full, measure

pytestmark = pytest.mark.mpi

OVERLAPPED = ("is", "cg", "mg", "ft")
KERNELS = (*OVERLAPPED, "lu")
MODES = ("blocking", "overlapped")
VARIANTS = ("bare", "adaptive", "idle", "offload")


def points(kernel: str, name: str) -> list[str]:
    return [f"class={name},mode={mode}" for mode in MODES] if kernel in OVERLAPPED else [f"class={name}"]


# Two ranks are those of the tests below; on four the others spin for longest on few cores.
@pytest.mark.parametrize(
    ("kernel", "ranks"),
    [
        *((kernel, 1) for kernel in KERNELS),
        *(("is", 4), ("mg", 4), ("lu", 4), full("cg", 4), full("ft", 4)),
        *(full(kernel, 2) for kernel in KERNELS),
    ],
)
def test_every_mode_gives_the_published_result(mpich: Launcher, kernel: str, ranks: int) -> None:
    measure(mpich.of("npb"), ranks, kernel, *points(kernel, "S"))


@pytest.mark.full
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("ranks", [1, 2, 4])
@pytest.mark.parametrize("kernel", KERNELS)
def test_small_classes_on_each_mpi(launcher: Launcher, kernel: str, ranks: int, variant: str) -> None:
    measure(launcher.of("npb", variant), ranks, kernel, *points(kernel, "S"), *points(kernel, "W"))


@pytest.mark.full
@pytest.mark.timeout(900)
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_class_a_on_each_mpi(launcher: Launcher, kernel: str, variant: str) -> None:
    for point in points(kernel, "A"):
        measure(launcher.of("npb", variant).within(300), 2, kernel, point)


@pytest.mark.parametrize(("kernel", "ranks"), [full(kernel, n) for kernel in KERNELS for n in (8, 16)])
def test_many_ranks_share_the_smallest_class(mpich: Launcher, kernel: str, ranks: int) -> None:
    measure(mpich.of("npb"), ranks, kernel, *points(kernel, "S"))


@pytest.mark.parametrize("variant", ["adaptive", full("idle"), full("offload")])
@pytest.mark.parametrize("kernel", ["is", full("cg"), full("mg"), "ft", full("lu")])
def test_under_the_engine(mpich: Launcher, kernel: str, variant: str) -> None:
    result = measure(mpich.of("npb", variant), 2, kernel, *points(kernel, "S"))
    assert {rank["engine"]["preset"] for rank in result.end["ranks"]} == {variant}


@pytest.mark.parametrize("kernel", [full("is"), "cg", full("mg"), full("ft"), "lu"])
def test_the_second_repetition_is_verified_like_the_first(mpich: Launcher, kernel: str) -> None:
    twice = ("--min-samples=2", "--max-samples=2", "--warmup=0", "--time-box-s=60")
    result = measure(mpich.of("npb"), 2, kernel, *points(kernel, "S"), options=twice)
    assert {len(line["samples"]["mops"]) for line in result.points} == {2}


@pytest.mark.parametrize("mode", [full("blocking"), "overlapped"])
@pytest.mark.parametrize("ranks", [2, full(4)])
@pytest.mark.parametrize("kernel", ["is", full("cg"), "mg", full("ft")])
def test_one_wrong_value_fails_the_point(mpich: Launcher, kernel: str, ranks: int, mode: str) -> None:
    assert_failed(
        mpich.of("npb").run(ranks, kernel, f"--point=class=S,mode={mode}", *ONCE, preload="wrong_kernel"), "class S: "
    )


@pytest.mark.parametrize("ranks", [2, full(4)])
def test_one_wrong_value_of_a_halo_or_of_a_front_fails_lu(mpich: Launcher, ranks: int) -> None:
    """A front's messages come by MPI_Recv, the halo's do not."""
    arguments = ("lu", "--point=class=S", *ONCE)
    assert_failed(mpich.of("npb").run(ranks, *arguments, preload="wrong_kernel"), "class S: ")
    assert_failed(mpich.of("npb").run(ranks, *arguments, preload="wrong_kernel", WRONG_CALL="recv"), "class S: ")
