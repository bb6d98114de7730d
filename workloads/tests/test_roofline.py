# SPDX-License-Identifier: BSD-3-Clause
"""The roofline tool: rates that a machine can have, in the order that they must have."""

from __future__ import annotations

import pytest

from harness.tests.waiting import eventually

from .conftest import Launcher, assert_valid

pytestmark = pytest.mark.mpi

FEW = ("--min-samples=3", "--max-samples=3", "--warmup=1", "--time-box-s=20")
OPERATIONS = ("fma-single", "fma-double", "divide", "sqrt", "multiply-integer")


def rates(mpich: Launcher, quantity: str, benchmark: str, *points: str) -> list[float]:
    result = mpich.of("roofline").run(1, benchmark, *(f"--point={point}" for point in points), *FEW)
    assert (result.status, result.errors) == (0, "")
    assert_valid(result)
    return [max(line["samples"][quantity]) for line in result.points]


def test_peak_rates(mpich: Launcher) -> None:
    """What else the machine does may slow down one of them alone, but not each time."""
    points = [f"operation={operation}" for operation in OPERATIONS]

    def in_order() -> bool:
        found = dict(zip(OPERATIONS, rates(mpich, "operations_per_s", "peak", *points), strict=True))
        assert 0 < max(found.values()) < 1e13, "optimised away"
        return (
            max(found["divide"], found["sqrt"]) < found["fma-double"]
            and found["multiply-integer"] < found["fma-single"]
        )

    assert eventually(in_order), "divisions are slower than multiplications"


def test_triad(mpich: Launcher) -> None:
    def in_order() -> bool:
        cached, memory = rates(mpich, "bytes_per_s", "triad", "megabytes=1", "megabytes=240")
        assert 0 < memory < 1e13, "optimised away"
        return cached > memory / 3

    assert eventually(in_order)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("triad", "--point=megabytes=-1"), "megabytes = -1: an integer from 1"),
        (("peak", "--point=operation=magic"), "one of fma-single"),
        (("triad", "--points=/absent"), "/absent: cannot be read"),
    ],
)
def test_mistakes_are_one_sentence(mpich: Launcher, arguments: tuple[str, ...], words: str) -> None:
    result = mpich.of("roofline").run(1, *arguments)
    assert result.status == 2
    assert words in result.errors
    assert len(result.errors.splitlines()) == 1
