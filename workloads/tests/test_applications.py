# SPDX-License-Identifier: BSD-3-Clause
"""Himeno and NPB EP: their results against a plain serial program and the published sums, on 1, 2 and 4 ranks, alone
and under the engine; what they refuse."""

from __future__ import annotations

import statistics
import subprocess
from pathlib import Path

import psutil
import pytest

from .conftest import ONCE, Launcher, Result, assert_failed, full, measure

pytestmark = pytest.mark.mpi

VARIANTS = ("bare", "adaptive", "idle")
SIZES = {"XS": (32, 32, 64), "S": (64, 64, 128), "M": (128, 128, 256), "L": (256, 256, 512), "XL": (512, 512, 1024)}
BYTES_A_POINT = 56
ITERATIONS = 5


# What every change is tried with, and what only --full tries: ranks, variant.
SETTINGS = [
    (2, "bare"),
    *(full(ranks, variant) for ranks in (1, 2, 4) for variant in VARIANTS if (ranks, variant) != (2, "bare")),
]


def values(result: Result, quantity: str) -> list[float]:
    """The median of every point on every rank."""
    return [statistics.median(line["samples"][quantity]) for line in result.points]


@pytest.fixture(scope="module")
def plain_himeno(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The published loop as a serial program of its own."""
    program = tmp_path_factory.mktemp("reference") / "himeno"
    source = Path(__file__).parent / "himeno_reference.c"
    subprocess.run(["cc", "-O2", source, "-o", program], check=True, timeout=120)
    return program


def plain_gosa(program: Path, size: str, iterations: int = ITERATIONS) -> float:
    command = [str(program), *map(str, SIZES[size]), str(iterations)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout)


def points_of_himeno(*sizes: str) -> list[str]:
    return [f"grid={size},iterations={ITERATIONS}" for size in sizes]


@pytest.mark.parametrize(("ranks", "variant"), SETTINGS)
def test_himeno_agrees_with_the_plain_loop(launcher: Launcher, ranks: int, variant: str, plain_himeno: Path) -> None:
    result = measure(launcher.of("himeno", variant), ranks, "solve", *points_of_himeno("XS", "S"))
    right = [plain_gosa(plain_himeno, size) for size in ("XS", "S") for _ in range(ranks)]
    assert values(result, "gosa") == pytest.approx(right, rel=1e-4)
    assert {line["role"] for line in result.points} == {"sequential" if ranks == 1 else "rank"}


@pytest.mark.full
@pytest.mark.timeout(400)
@pytest.mark.parametrize(("size", "ranks"), [("M", 2), ("L", 1), ("L", 4), ("XL", 2)])
def test_large_grids_agree_with_the_plain_loop(mpich: Launcher, size: str, ranks: int, plain_himeno: Path) -> None:
    points = SIZES[size][0] * SIZES[size][1] * SIZES[size][2]
    if psutil.virtual_memory().available < 1.2 * points * BYTES_A_POINT:
        pytest.skip(f"size {size} takes {points * BYTES_A_POINT / 1e9:.0f} GB")
    iterations = 1 if size == "XL" else ITERATIONS
    result = measure(mpich.of("himeno").within(300), ranks, "solve", f"grid={size},iterations={iterations}")
    # single precision: a residual of 1 / (3 imax^2) is a difference of numbers near 1
    assert values(result, "gosa") == pytest.approx([plain_gosa(plain_himeno, size, iterations)] * ranks, rel=1e-2)


@pytest.mark.parametrize(
    ("ranks", "dimensions"),
    [(3, 1), (4, 2), *(full(ranks, dimensions) for ranks in (2, 5, 6, 8) for dimensions in (1, 2, 3))],
)
def test_the_cut_does_not_show_in_gosa(mpich: Launcher, ranks: int, dimensions: int) -> None:
    """Also where the planes (30, 30, 62) do not divide by the ranks."""
    point = f"grid=XS,iterations=20,dimensions={dimensions}"
    (alone,) = values(measure(mpich.of("himeno"), 1, "solve", point), "gosa")
    assert values(measure(mpich.of("himeno"), ranks, "solve", point), "gosa") == pytest.approx(
        [alone] * ranks, rel=1e-6
    )


@pytest.mark.parametrize(
    ("ranks", "variant", "classes"),
    [(2, "bare", ("S", "W")), *(full(ranks, variant, ("S", "W", "A")) for ranks in (1, 2, 4) for variant in VARIANTS)],
)
def test_ep_gives_the_published_sums(mpich_first: Launcher, ranks: int, variant: str, classes: tuple[str, ...]) -> None:
    """It verifies them itself; its parts are the whole."""
    result = measure(mpich_first.of("npb", variant), ranks, "ep", *(f"class={name}" for name in classes))
    for line in result.points:
        samples = line["samples"]
        assert samples["comp_s"][0] + samples["comm_s"][0] == pytest.approx(samples["elapsed_s"][0])
        numbers = 2 * 2 ** {"S": 24, "W": 25, "A": 28}[line["point"]["class"]]
        assert samples["mops"][0] * samples["elapsed_s"][0] == pytest.approx(numbers / 1e6)


@pytest.mark.parametrize("variant", ["adaptive", "idle"])
def test_applications_under_the_engine(mpich: Launcher, variant: str) -> None:
    for program, benchmark, point in (("himeno", "solve", "grid=XS"), ("npb", "ep", "class=S")):
        result = measure(mpich.of(program, variant), 2, benchmark, point)
        assert {rank["engine"]["preset"] for rank in result.end["ranks"]} == {variant}


def test_ep_on_ranks_that_do_not_divide_its_batches(mpich: Launcher) -> None:
    measure(mpich.of("npb"), 3, "ep", "class=S")


@pytest.mark.parametrize(
    ("program", "arguments", "sentence"),
    [
        ("himeno", ("solve", "--point=grid=XS,iterations=3"), "gosa is"),
        ("npb", ("ep", "--point=class=S"), "class S: the sums are"),
    ],
)
def test_a_wrong_result_fails_the_point(
    mpich: Launcher, program: str, arguments: tuple[str, ...], sentence: str
) -> None:
    result = mpich.of(program).run(2, *arguments, *ONCE, preload="wrong_application")
    assert_failed(result, sentence)


# NPB's kernels that communicate: verified by the specification's values on 1, 2 and 4 ranks, blocking and overlapped,
# alone and under the engine; a value that a message brings wrong is seen; what they refuse. LU has no overlapped
# mode: a front has nothing to compute beside its messages.
OVERLAPPED = ("is", "cg", "mg", "ft")
KERNELS = (*OVERLAPPED, "lu")
MODES = ("blocking", "overlapped")
ALL_VARIANTS = (*VARIANTS, "offload")


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


# The engine has most to do on two ranks; alone it has nothing, and four show what a second neighbour changes.
@pytest.mark.full
@pytest.mark.parametrize(
    ("ranks", "variant"), [(1, "bare"), *((2, variant) for variant in ALL_VARIANTS), (4, "bare"), (4, "adaptive")]
)
@pytest.mark.parametrize("kernel", KERNELS)
def test_small_classes_on_each_mpi(launcher: Launcher, kernel: str, ranks: int, variant: str) -> None:
    measure(launcher.of("npb", variant), ranks, kernel, *points(kernel, "S"), *points(kernel, "W"))


@pytest.mark.full
@pytest.mark.timeout(900)
@pytest.mark.parametrize("variant", ["bare", "adaptive"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_class_a(mpich: Launcher, kernel: str, variant: str) -> None:
    for point in points(kernel, "A"):
        measure(mpich.of("npb", variant).within(300), 2, kernel, point)


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


# The pencil FFT: each rank holds its spectrum against a serial transform and the way back against the start, for all
# modes and grids, also where nothing divides; a wrong chunk is seen; what it refuses.
FFT_MODES = ("mode=blocking", "mode=pipelined", "mode=chunked", "mode=chunked,chunks=7")

FIELDS = ("nx=16,ny=16,nz=16", "nx=15,ny=13,nz=9,fields=2", "nx=4,ny=31,nz=6,fields=1")
WIDE = (*FIELDS[:2], "nx=7,ny=31,nz=6,fields=1")  # for more than 3 in a row: a real row of 4 has 3 waves


def fields(rows: int) -> list[str]:
    return [
        f"{size},field={field},row_ranks={rows},{mode}"
        for size in (WIDE if rows > 3 else FIELDS)
        for field in ("complex", "real")
        for mode in FFT_MODES
    ]


@pytest.mark.parametrize(
    ("ranks", "rows"), [(1, 1), (2, 2), *(full(*cut) for cut in ((2, 1), (3, 3), (4, 1), (4, 2), (4, 4), (6, 3)))]
)
def test_every_mode_is_the_serial_transform(mpich: Launcher, ranks: int, rows: int) -> None:
    measure(mpich.of("pencil_fft"), ranks, "transform", *fields(rows))


@pytest.mark.full
@pytest.mark.parametrize("variant", ALL_VARIANTS)
@pytest.mark.parametrize(("ranks", "rows"), [(2, 1), (2, 2), (4, 2), (4, 1), (4, 4)])
def test_on_each_mpi(launcher: Launcher, ranks: int, rows: int, variant: str) -> None:
    measure(launcher.of("pencil_fft", variant), ranks, "transform", *fields(rows))


@pytest.mark.parametrize("variant", ["adaptive", full("idle"), full("offload")])
def test_transforms_under_the_engine(mpich: Launcher, variant: str) -> None:
    result = measure(mpich.of("pencil_fft", variant), 2, "transform", *fields(0))
    assert {rank["engine"]["preset"] for rank in result.end["ranks"]} == {variant}


def test_fftws_own_plan_of_whole_fields_is_the_serial_transform(mpich: Launcher) -> None:
    whole = [f"{size},field={field},mode=fftw" for size in FIELDS for field in ("complex", "real")]
    measure(mpich.of("pencil_fft"), 1, "transform", *whole)


@pytest.mark.full
def test_further_repetitions_are_verified_like_the_first(mpich: Launcher) -> None:
    thrice = ("--min-samples=3", "--max-samples=3", "--warmup=0", "--time-box-s=60")
    result = measure(mpich.of("pencil_fft"), 2, "transform", *FFT_MODES, options=thrice)
    assert {len(line["samples"]["mops"]) for line in result.points} == {3}


@pytest.mark.parametrize("mode", FFT_MODES)
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
    fields = [f"--point=nx=16,ny=16,nz=16,field={field},row_ranks=2,{FFT_MODES[0]}" for field in ("complex", "real")]
    result = mpich.of("pencil_fft").run(2, "transform", *fields, *ONCE, preload="swapped_messages")
    assert result.status == 1
    assert [line["status"] for line in result.points] == ["failed", "failed"]
    assert all("by a serial transform" in line["reason"] for line in result.points)
