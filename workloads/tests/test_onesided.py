# SPDX-License-Identifier: BSD-3-Clause
"""Operations on windows, neighbourhood collectives and partitioned messages beside a computation: what is measured,
what is verified, what is refused."""

from __future__ import annotations

import pytest

from harness.base.mpis import WHEEL_MPIS

from .conftest import ONCE, OVERLAP, Launcher, assert_failed, assert_refused, full, measure

pytestmark = pytest.mark.mpi

BY_DEFAULT = [("openmpi", "flush", "allocated"), ("openmpi", "fence", "created")]
OF_A_WORD = ("get", "put", "accumulate", "fetch-and-op", "compare-and-swap", "rget", "rput")
WITH_EPOCHS = OF_A_WORD[:5]


def _points(*, synchronisation: str, window: str) -> list[str]:
    operations = WITH_EPOCHS if synchronisation in ("pscw", "fence") else OF_A_WORD
    more = f"synchronisation={synchronisation},window={window},operations=5,work_units=10,size_bytes"
    larger = [f"operation={name},{more}=100000" for name in ("get", "put", "accumulate")]
    return [*(f"operation={name},{more}=8" for name in operations), *larger]


# MPICH runs all; of the others two by default: one of each kind of epoch and of window.
EPOCHS = [
    ((lambda *row: row) if mpi == "mpich" or (mpi, epoch, window) in BY_DEFAULT else full)(mpi, epoch, window)
    for mpi in WHEEL_MPIS
    for epoch in ("flush", "lock", "pscw", "fence")
    for window in ("allocated", "created")
]


@pytest.mark.parametrize(("launcher", "synchronisation", "window"), EPOCHS, indirect=["launcher"])
def test_each_operation_does_what_it_says(launcher: Launcher, synchronisation: str, window: str) -> None:
    result = measure(launcher, 2, "rma-progress", *_points(synchronisation=synchronisation, window=window))
    for line in result.points:
        origin = line["role"] == "origin"
        assert set(line["samples"]) == OVERLAP | ({"worst_s", "latency_s"} if origin else set())
        assert (min(line["samples"]["comp_s"]) > 0) is not origin
        if origin:
            latencies = line["samples"]["latency_s"]
            assert len(latencies) == (5 if synchronisation in ("flush", "lock") else 1)
            assert line["samples"]["worst_s"] == [max(latencies)]
            assert latencies[0] >= line["samples"]["post_s"][0], "an MPI may wait where the epoch is opened"


def test_two_pairs_work_on_their_own_windows(mpich: Launcher) -> None:
    result = measure(mpich, 4, "rma-progress", "operation=fetch-and-op,work_units=10,operations=3")
    assert [line["role"] for line in result.points] == ["origin", "origin", "target", "target"]


def test_a_target_inside_mpi_computes_nothing(mpich: Launcher) -> None:
    result = measure(mpich, 2, "rma-progress", "operation=get,target=in-mpi,work_units=1000")
    assert all(line["samples"]["comp_in_s"] == [0.0] for line in result.points)


@pytest.mark.parametrize("operation", OF_A_WORD)
def test_one_corrupted_value_is_seen(mpich: Launcher, operation: str) -> None:
    """One bit of the last of three operations, of what is sent or of what is brought."""
    result = mpich.run(2, "rma-progress", f"--point=operation={operation},work_units=1,operations=3", *ONCE,
                       preload="wrong_window")  # fmt: skip
    assert result.status == 1
    assert_failed(result, operation)


@pytest.mark.parametrize("topology", ["graph", "cartesian"])
@pytest.mark.parametrize("ranks", [2, full(4)])
def test_halos_arrive_whole_by_each_collective(launcher: Launcher, ranks: int, topology: str) -> None:
    """Each of them in a place and with contents of its own, which the workload verifies."""
    points = [
        f"size_bytes={size},work_units=5,exchange={name},topology={topology}"
        for name in ("alltoall", "alltoallv", "alltoallw", "allgather", "allgatherv")
        for size in (13, 100_000)
    ]
    result = measure(launcher.of("minighost"), ranks, "exchange", *points)
    assert all(set(line["samples"]) == OVERLAP | {"arrived_early", "changed_early"} for line in result.points)


def test_the_parts_of_a_message_arrive_in_their_places(launcher: Launcher) -> None:
    points = [
        f"mode={mode},partitions=4,size_bytes={size},work_units=40,pattern={pattern}"
        for mode in ("partitioned", "pieces", "whole")
        for size in (0, 4000, 400_000)
        for pattern in ("sender", "both")
    ]
    result = measure(launcher, 2, "partitioned-overlap", *points)
    for line in result.points:
        computes = line["role"] == "sender" or line["point"]["pattern"] == "both"
        assert (min(line["samples"]["comp_in_s"]) > 0) is computes


@pytest.mark.parametrize(
    ("program", "preload", "benchmark", "point"),
    [
        ("minighost", "wrong_neighbour", "exchange", "size_bytes=5000,work_units=1,exchange=alltoallv"),
        *(
            ("microbench", "wrong_partition", "partitioned-overlap", f"size_bytes=4000,work_units=8,mode={mode}")
            for mode in ("partitioned", "pieces", "whole")
        ),
    ],
)
def test_one_corrupted_byte_is_seen(mpich: Launcher, program: str, preload: str, benchmark: str, point: str) -> None:
    result = mpich.of(program).run(2, benchmark, f"--point={point}", *ONCE, preload=preload)
    assert result.status == 1
    assert_failed(result, "is wrong at byte")


@pytest.mark.parametrize(
    ("benchmark", "point", "parts"),
    [
        ("rma-progress", "operation=fetch-and-op,size_bytes=16,work_units=1", ("is of one number", "not 16")),
        ("rma-progress", "operation=accumulate,size_bytes=12,work_units=1", ("12 is not a multiple of 8",)),
        ("rma-progress", "operation=rget,synchronisation=fence,work_units=1", ("rget", "passive epochs")),
        ("exchange", "size_bytes=8,work_units=1,exchange=alltoall,posting=receives-last", ("receives-first",)),
        ("exchange", "size_bytes=400000000,work_units=1,exchange=alltoall", ("size_bytes must be at most 357913941",)),
        ("partitioned-overlap", "mode=pieces,partitions=3,size_bytes=8,work_units=1", ("3 parts of the same size",)),
    ],
)
def test_what_cannot_be_done_is_refused(mpich: Launcher, benchmark: str, point: str, parts: tuple[str, ...]) -> None:
    program = "minighost" if benchmark == "exchange" else "microbench"
    assert_refused(mpich.of(program).run(2, benchmark, f"--point={point}", *ONCE), program, *parts)
