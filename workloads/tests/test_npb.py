# SPDX-License-Identifier: BSD-3-Clause
"""NPB's kernels that communicate: verified by the specification's values on 1, 2 and 4 ranks, blocking and overlapped,
alone and under the engine; a value that a message brings wrong is seen; what they refuse. LU has no overlapped mode:
a front has nothing to compute beside its messages."""

from __future__ import annotations

import pytest

from .conftest import ONCE, Launcher, Result, assert_refused, assert_valid, full, measure

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
@pytest.mark.parametrize("kernel", KERNELS)
def test_under_the_engine(mpich: Launcher, kernel: str, variant: str) -> None:
    result = measure(mpich.of("npb", variant), 2, kernel, *points(kernel, "S"))
    assert {rank["engine"]["preset"] for rank in result.end["ranks"]} == {variant}


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_second_repetition_is_verified_like_the_first(mpich: Launcher, kernel: str) -> None:
    twice = ("--min-samples=2", "--max-samples=2", "--warmup=0", "--time-box-s=60")
    result = mpich.of("npb").run(2, kernel, *(f"--point={point}" for point in points(kernel, "S")), *twice)
    assert (result.status, result.errors) == (0, "")
    assert {len(line["samples"]["mops"]) for line in result.points} == {2}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("ranks", [2, full(4)])
@pytest.mark.parametrize("kernel", OVERLAPPED)
def test_one_wrong_value_fails_the_point(mpich: Launcher, kernel: str, ranks: int, mode: str) -> None:
    assert_failed(mpich.of("npb").run(ranks, kernel, f"--point=class=S,mode={mode}", *ONCE, preload="wrong_kernel"))


def assert_failed(result: Result) -> None:
    assert result.status == 1
    assert_valid(result)
    assert [line["status"] for line in result.points] == ["failed"]
    assert "class S: " in result.points[0]["reason"]


@pytest.mark.parametrize("ranks", [2, full(4)])
def test_one_wrong_value_of_a_halo_or_of_a_front_fails_lu(mpich: Launcher, ranks: int) -> None:
    """A front's messages come by MPI_Recv, the halo's do not."""
    arguments = ("lu", "--point=class=S", *ONCE)
    assert_failed(mpich.of("npb").run(ranks, *arguments, preload="wrong_kernel"))
    assert_failed(mpich.of("npb").run(ranks, *arguments, preload="wrong_kernel", WRONG_CALL="recv"))


REFUSED = {
    "no such class": (2, "class=E", 'class = "E": one of S, W, A, B, C, D'),
    "no such mode": (2, "mode=fast", 'mode = "fast": one of blocking, overlapped'),
    "three ranks": (3, "class=S", "3 ranks cannot run class S: start a power of two, from 1 to "),
}


@pytest.mark.parametrize("mistake", REFUSED)
@pytest.mark.parametrize("kernel", OVERLAPPED)
def test_mistakes_are_one_sentence_and_status_2(mpich: Launcher, kernel: str, mistake: str) -> None:
    ranks, point, sentence = REFUSED[mistake]
    assert_refused(mpich.of("npb").run(ranks, kernel, f"--point={point}"), "npb", sentence)


MOST_RANKS = {"is": 512, "cg": 1024, "mg": 512, "ft": 64}  # of class S


@pytest.mark.parametrize("kernel", OVERLAPPED)
def test_more_ranks_than_a_kernel_has_parts(mpich: Launcher, kernel: str) -> None:
    result = mpich.of("npb").run(2, kernel, "--point=class=S", preload="many_ranks", MANY_RANKS="2048")
    most = f"2048 ranks cannot run class S: start a power of two, from 1 to {MOST_RANKS[kernel]}\n"
    assert_refused(result, "npb", most)


REFUSED_BY_LU = {
    "no such class": (2, "class=E", 'class = "E": one of S, W, A, B, C, D'),
    "five ranks": (5, "class=S", "5 ranks cannot run class S: each needs 3 points or more along two axes of 12 points"),
}


@pytest.mark.parametrize("mistake", REFUSED_BY_LU)
def test_lu_refuses_what_it_has_not(mpich: Launcher, mistake: str) -> None:
    ranks, point, sentence = REFUSED_BY_LU[mistake]
    assert_refused(mpich.of("npb").run(ranks, "lu", f"--point={point}"), "npb", sentence)


@pytest.mark.parametrize("kernel", ["ep", "lu"])
def test_the_suite_knows_who_has_no_overlapped_mode(mpich: Launcher, kernel: str) -> None:
    result = mpich.of("npb").run(2, "suite", f"--point=kernel={kernel},mode=overlapped")
    assert_refused(result, "npb", f"kernel {kernel} has no overlapped mode")


def test_the_suite_knows_which_classes_a_kernel_has(mpich: Launcher) -> None:
    result = mpich.of("npb").run(2, "suite", "--point=kernel=ep,class=D")
    assert_refused(result, "npb", 'kernel ep: class = "D": one of S, W, A, B, C is needed')


@pytest.mark.parametrize("benchmark", [*KERNELS, "suite"])
def test_what_memory_does_not_hold_is_refused_before_it_is_touched(mpich: Launcher, benchmark: str) -> None:
    """Also where it is the second point: nothing is measured before all is known to fit."""
    kernel = "kernel=cg," if benchmark == "suite" else ""
    arguments = (f"--point={kernel}class=S", f"--point={kernel}class=D")
    result = mpich.of("npb").run(2, benchmark, *arguments, preload="little_memory")
    assert_refused(result, "npb", "class D takes ")
    assert "GB of memory a rank, and 4.0 GB are there for each" in result.errors
