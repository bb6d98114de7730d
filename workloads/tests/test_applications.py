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
    [
        (2, "bare", ("S", "W")),
        *(full(ranks, variant, ("S", "W", "A")) for ranks in (1, 2, 4) for variant in VARIANTS),
    ],
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
