# SPDX-License-Identifier: BSD-3-Clause
"""What the workloads refuse: one sentence of rank 0 and status 2, before anything is measured."""

from __future__ import annotations

import pytest

from .conftest import Launcher, assert_refused, full

pytestmark = pytest.mark.mpi

NPB = ("is", "cg", "mg", "ft")  # all whose messages can overlap

# ranks, program and benchmark, a point and options, what the sentence says. By default each program makes a mistake of
# each kind (a value out of its range is one kind).
REFUSED = [
    (2, "microbench node-pairs", "round=1,size_bytes=8,work_units=1", "round = 1: 2 ranks have the rounds 0 to 0"),
    (1, "microbench collective-overlap", "collective=ibcast,size_bytes=8,work_units=1", "needs 2 ranks at least"),
    (2, "microbench collective-overlap", "collective=ireduce,size_bytes=9,work_units=1", "not a multiple of 8"),
    full(2, "microbench collective-overlap", "collective=iscan,size_bytes=8,work_units=1", "one of ireduce, igather"),
    (2, "microbench context-switches", "pending=1,work_units=5", "pending = 1: true or false"),
    (3, "microbench latency", "size_bytes=1", "pairs of ranks are needed"),
    (2, "microbench host-overhead", "pattern=sender", "size_bytes is missing"),
    full(2, "himeno solve", "grid=XXL", "one of XS, S, M, L, XL"),
    (2, "himeno solve", "iterations=1.5", "iterations = 1.5: an integer"),
    (2, "himeno solve", "grid=XS --context=/absent", "--context /absent: cannot be"),
    full(2, "npb ep", "class=D", "one of S, W, A, B, C"),
    (2, "npb ep", "clas=S", "did you mean class?"),
    (2, "npb ep", "--points=/absent.json", "--points /absent.json: cannot be read: No such file"),
    full(2, "npb is", "class=E", 'class = "E": one of S, W, A, B, C, D'),
    (2, "npb cg", "mode=fast", 'mode = "fast": one of blocking, overlapped'),
    (3, "npb mg", "class=S", "3 ranks cannot run class S: start a power of two, from 1 to "),
    *(full(2, f"npb {kernel}", "class=E", 'class = "E": one of S, W, A, B, C, D') for kernel in (*NPB[1:], "lu")),
    *(full(2, f"npb {kernel}", "mode=fast", 'mode = "fast": one of blocking, overlapped') for kernel in NPB),
    *(full(3, f"npb {kernel}", "class=S", "3 ranks cannot run class S: start a power of two, from 1 to ")
      for kernel in NPB),
    (5, "npb lu", "class=S", "5 ranks cannot run class S: each needs 3 points or more along two axes of 12 points"),
    *((2, "npb suite", f"kernel={kernel},mode=overlapped", f"kernel {kernel} has no overlapped mode")
      for kernel in ("ep", "lu")),
    full(2, "npb suite", "kernel=ep,class=D", 'kernel ep: class = "D": one of S, W, A, B, C is needed'),
    full(2, "minife solve", "mode=fast", 'mode = "fast": one of blocking, overlapped, pipelined'),
    (2, "minife solve", "iterations=0", "iterations = 0: an integer from 1"),
    (2, "minife solve", "mode=pipelined,barrier=true", "mode pipelined has no blocking reduction"),
    full(10, "minife solve", "nx=2,ny=2,nz=2", "10 ranks cannot share 3 x 3 x 3 nodes cut in halves: start 9 or"),
    (10, "minife_threads solve", "nx=2,ny=2,nz=2", "10 ranks cannot share 3 x 3 x 3 nodes cut in halves: start 9 or"),
    full(2, "pencil_fft transform", "mode=fast", 'mode = "fast": one of blocking, pipelined, chunked, fftw'),
    full(2, "pencil_fft transform", "field=quaternion", "one of complex, real"),
    (2, "pencil_fft transform", "mode=fftw", "mode fftw transforms whole fields: start 1 rank instead of 2"),
    (4, "pencil_fft transform", "row_ranks=3", "row_ranks = 3: 4 ranks are no rows of 3: take a divisor"),
    full(2, "pencil_fft transform", "row_ranks=4", "row_ranks = 4: 2 ranks are no rows of 4"),
    (4, "pencil_fft transform", "nx=2,ny=3,nz=1",
     "4 ranks cannot share 2 x 3 x 1 complex points, each with a pencil along every axis: start fewer"),
    (3, "pencil_fft transform", "nx=2,ny=64,nz=64,row_ranks=3",
     "3 ranks in rows of 3 cannot share 2 x 64 x 64 complex points"),
    # three reals have two waves
    (3, "pencil_fft transform", "nx=3,ny=64,nz=64,field=real,row_ranks=3", "cannot share 3 x 64 x 64 real points"),
    (1, "pencil_fft transform", "nx=2048,ny=2048,nz=1024", "more than MPI counts in a message: start more ranks"),
    (2, "minighost solve", "stencil=9", "stencil = 9: 7 or 27 is needed"),
    full(2, "minighost solve", "mode=magic", "one of blocking, nonblocking, direct, overlapped"),
    full(2, "minighost solve", "reduction=later", "one of none, blocking, late"),
    (2, "minighost solve", "stencil=27,neighbours=6", "neighbours = 6: a stencil of 27 points needs 26"),
    (2, "minighost solve", "neighbours=7", "neighbours = 7: a stencil of 7 points needs 6 or 26"),
    (2, "minighost solve", "nx=9,ny=2,nz=9,mode=overlapped",
     "mode overlapped needs blocks of 3 points or more along each axis, and a rank has 4 x 2 x 9: take"),
    (2, "minighost solve", "nx=16384,ny=16384,nz=16384,variables=40",
     "have halos of 10737418240 values, more than MPI counts in a message: start more ranks or take fewer variables"),
    (3, "minighost solve", "nx=2,ny=2,nz=2",
     "3 ranks cannot share 2 x 2 x 2 points in 3 dimensions, each with a plane of its own: start 2 ranks"),
    (1, "minighost exchange", "size_bytes=8,work_units=1", "an exchange needs 2 ranks at least, and there is 1"),
    full(2, "minighost exchange", "size_bytes=8,work_units=1,posting=never", "one of receives-first"),
    (1, "roofline triad", "megabytes=-1", "megabytes = -1: an integer from 0"),
    full(1, "roofline peak", "operation=magic", "one of fma-single"),
    (2, "tasks contention", "queue=lock,submitters=1", "there are 2 ranks: start 1"),
    (1, "tasks contention", "submitters=1", "queue is missing"),
    full(1, "tasks contention", "queue=heap,submitters=1", "one of submission, lock, lock-free"),
    (1, "interference ping-pong", "detection=spin", "a ping-pong has 2 ranks, and there is 1"),
    (2, "interference ping-pong", "detection=spin,placement=moon",
     "one of same-core, smt-sibling, same-l3, other-socket"),
    (2, "ult waiting", "mat_size=20", "none is loaded: run it under progress-run --variant offload"),
]  # fmt: skip


@pytest.mark.parametrize(("ranks", "benchmark", "point", "sentence"), REFUSED)
def test_mistakes_are_one_sentence_and_status_2(
    mpich: Launcher, ranks: int, benchmark: str, point: str, sentence: str
) -> None:
    program, name = benchmark.split()
    words = [word if word.startswith("--") else f"--point={word}" for word in point.split()]
    result = mpich.of(program).run(ranks, name, *words)
    assert_refused(result, program, sentence)
    assert len(result.errors.splitlines()) == 1, result.errors


MORE = "GB of memory a rank, and 4.0 GB are there for each"
# What fits, what does not, and how that is said. Of miniGhost's halos, fields of 3.5 GB would fit alone, without them.
TOO_LARGE = [
    ("himeno solve", "grid=XS", "grid=XL", f"grid XL takes .* {MORE}"),
    ("npb lu", "class=S", "class=D", f"class D takes .* {MORE}"),
    *(full(f"npb {kernel}", "class=S", "class=D", f"class D takes .* {MORE}") for kernel in NPB),
    ("npb suite", "kernel=cg,class=S", "kernel=cg,class=D", f"class D takes .* {MORE}"),
    *((f"{program} solve", "nx=12,ny=12,nz=12", "nx=400,ny=400,nz=400", f"400 x 400 x 400 elements takes .* {MORE}")
      for program in ("minife", "minife_threads")),
    ("pencil_fft transform", "nx=16,ny=16,nz=16", "nx=512,ny=512,nz=512",
     f"3 fields of 512 x 512 x 512 points takes .* {MORE}"),
    ("minighost solve", "nx=9,ny=9,nz=9", "nx=1000,ny=1000,nz=1000,variables=40",
     "a grid of 1000 x 1000 x 1000 points takes "),
    ("minighost solve", "nx=9,ny=9,nz=9", "nx=2,ny=10400,nz=10400,variables=1",
     f"a grid of 2 x 10400 x 10400 points takes 4.3 {MORE}"),
    ("minighost exchange", "size_bytes=8,work_units=1", "size_bytes=8,work_units=1,edge=1024",
     "a block of 1024 x 1024 x 1024 points with halos of 8 bytes takes 17.3 GB of memory a rank"),
    full("minighost exchange", "size_bytes=8,work_units=1", "size_bytes=2147483647,work_units=1",
     "a block of 64 x 64 x 64 points with halos of 2147483647 bytes takes 4.3 GB of memory a rank"),
]  # fmt: skip


@pytest.mark.parametrize(("benchmark", "fits", "does_not", "sentence"), TOO_LARGE)
def test_what_memory_does_not_hold_is_refused_before_it_is_touched(
    mpich: Launcher, benchmark: str, fits: str, does_not: str, sentence: str
) -> None:
    """Also where it is the second point: nothing is measured before all is known to fit."""
    program, name = benchmark.split()
    result = mpich.of(program).run(2, name, f"--point={fits}", f"--point={does_not}", preload="little_memory")
    assert_refused(result, program, *sentence.split(" .* "))


# Of an MPI that speaks of so many ranks. What the smallest problem has parts for stands in the sentence.
CROWDED = [
    ("himeno solve", "grid=XS,dimensions=1", 1009, "1009 ranks cannot share 30 x 30 x 62 points in 1 dimension"),
    ("npb ep", "class=S", 1009, "class S has 256 batches of pairs, too few for 1009 ranks"),
    ("npb is", "class=S", 2048, "2048 ranks cannot run class S: start a power of two, from 1 to 512\n"),
    *(full(f"npb {kernel}", "class=S", 2048, f"2048 ranks cannot run class S: start a power of two, from 1 to {most}\n")
      for kernel, most in (("cg", 1024), ("mg", 512), ("ft", 64))),
]  # fmt: skip


@pytest.mark.parametrize(("benchmark", "point", "ranks", "sentence"), CROWDED)
def test_more_ranks_than_a_problem_has_parts(
    mpich_first: Launcher, benchmark: str, point: str, ranks: int, sentence: str
) -> None:
    program, name = benchmark.split()
    result = mpich_first.of(program).run(2, name, f"--point={point}", preload="many_ranks", MANY_RANKS=str(ranks))
    assert_refused(result, program, sentence)
