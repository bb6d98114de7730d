# SPDX-License-Identifier: BSD-3-Clause
"""The benchmarks of computing kernels, and their cases: none is longer than seconds on two ranks of a small machine."""

from __future__ import annotations

from harness.codes import kernel_output
from harness.codes.code import LEADING_TIME, RATE, TIME, Case, Code, Quantity
from harness.codes.inputs import HPCC_INPUT
from harness.codes.inputs import SCALAPACK as SCALAPACK_INPUTS

LEADING_FLOPS = Quantity("flop/s", "higher", leading=True)
FLOPS = Quantity("flop/s", "higher")

CLASS = "A"
_NPB_RANKS = {"bt": 4, "sp": 4}  # they want a square number


def _npb(name: str, size: str = CLASS) -> Case:
    """A program of the suite, which is built for a class."""
    other = "" if size == CLASS else f"-{size.lower()}"
    return Case(
        f"npb-original-{name}{other}",
        f"NPB: {name.upper()} as NASA wrote it{f', class {size}' if other else ''}",
        f"{name}.{size}.x",
        (),
        kernel_output.npb,
        {"benchmark": (name.upper(),), "class": (size,)},
        {"time_s": LEADING_TIME, "mops": Quantity("1e6/s", "higher")},
        ranks=_NPB_RANKS.get(name, 2),
    )


_NPB_CASES = (
    *map(_npb, ("cg", "ft", "is", "lu", "mg", "ep", "bt", "sp")),
    _npb("lu", "W"),  # that of A takes a minute on one rank
)

NPB = Code(
    "npb",
    "NAS Parallel Benchmarks",
    tuple(case.program for case in _NPB_CASES),
    spack="npb implementation=mpi",
    cases=_NPB_CASES,
)

_GRID = (64, 64, 64)
_FFT_INPUT = {
    "stdin": " ".join(map(str, (*_GRID, 2, 5))) + "\n"
}  # grid, dimensions of the processes' grid, repetitions

P3DFFT = Code(
    "p3dfft",
    "P3DFFT 2.7",
    ("test_sine_f.x", "test_sine_r.x"),
    note="built by hand from its repository, https://github.com/sdsc/p3dfft: its test programs, --enable-fftw",
    cases=(
        Case(
            "p3dfft-sine",
            "P3DFFT: a transform of a sine wave and back",
            "test_sine_f.x",
            (),
            kernel_output.p3dfft,
            quantities={"time_s": LEADING_TIME},
            others=("test_sine_r.x",),
            files=_FFT_INPUT,
        ),
    ),
)

P3DFFT3 = Code(
    "p3dfft3",
    "P3DFFT++ 3",
    ("test3D_r2c_cpp",),
    spack="p3dfft3",
    cases=(
        Case(
            "p3dfft3-sine",
            "P3DFFT++: a transform of a sine wave and back",
            "test3D_r2c_cpp",
            (),
            kernel_output.p3dfft3,
            quantities={"time_s": LEADING_TIME},
            files=_FFT_INPUT,
        ),
    ),
)

MINIFE = Code(
    "minife",
    "miniFE",
    ("miniFE.x",),
    spack="minife build=ref",
    cases=(
        Case(
            "minife-original",
            "miniFE: CG on finite elements",
            "miniFE.x",
            ("nx=40", "ny=40", "nz=40", "verify_solution=1"),
            kernel_output.minife,
            quantities={"time_s": LEADING_TIME, "flops": FLOPS},
            written="miniFE*.yaml",
        ),
    ),
    note="its solution is verified only where it was built without overlap",
)

_MINIGHOST = (
    "--npx 2 --npy 1 --npz 1 --nx 64 --ny 64 --nz 64 --num_vars 5 --num_tsteps 20 --percent_sum 100 --stencil 24"
)

MINIGHOST = Code(
    "minighost",
    "miniGhost",
    ("miniGhost.x", "miniGhost"),
    spack="minighost",
    cases=(
        Case(
            "minighost-original",
            "miniGhost: a stencil of 27 points, all sums checked",
            "miniGhost.x",
            tuple(_MINIGHOST.split()),
            kernel_output.minighost,
            others=("miniGhost",),
        ),
    ),
)

HPCG = Code(
    "hpcg",
    "HPCG",
    ("xhpcg",),
    spack="hpcg",
    cases=(
        Case(
            "hpcg-small",
            "HPCG: 32 x 32 x 32 rows a rank",
            "xhpcg",
            ("--nx=32", "--ny=32", "--nz=32", "--rt=5"),
            kernel_output.hpcg,
            quantities={"flops": LEADING_FLOPS, "time_s": TIME},
            written="HPCG-Benchmark*.txt",
        ),
    ),
    note="a run of seconds is no official result, as its own output says",
)

HIMENO = Code(
    "himeno",
    "Himeno's original",
    ("himenoBMTxpr", "bmt"),
    note="built by hand from RIKEN's site: its MPI version, its grid divided into 1 x 1 x 2",
    cases=(
        Case(
            "himeno-original",
            "Himeno's benchmark as RIKEN has it",
            "bmt",
            (),
            kernel_output.himeno,
            others=("himenoBMTxpr",),
            quantities={"flops": LEADING_FLOPS, "time_s": TIME},
        ),
    ),
)

HPCC = Code(
    "hpcc",
    "HPC Challenge",
    ("hpcc",),
    debian=("hpcc",),
    spack="hpcc",
    cases=(
        Case(
            "hpcc-small",
            "HPC Challenge: HPL, transposition, random access, FFT",
            "hpcc",
            (),
            kernel_output.hpcc,
            quantities={
                "hpl_flops": LEADING_FLOPS,
                "fft_flops": FLOPS,
                "ptrans_bytes_per_s": RATE,
                "bytes_per_s": RATE,
                "latency_s": TIME,
                "updates_per_s": Quantity("1/s", "higher"),
            },
            files={"hpccinf.txt": HPCC_INPUT},
            written="hpccoutf.txt",
        ),
    ),
)

SCALAPACK = Code(
    "scalapack",
    "ScaLAPACK's tests (of Debian: for its MPICH)",
    ("xdlu", "xdllt", "xdqr"),
    debian=("scalapack-mpi-test",),
    places=("usr/lib/*/scalapack/mpich-tests",),
    cases=tuple(
        Case(
            name=f"scalapack-{name}",
            title=f"ScaLAPACK: {what}, all residuals checked",
            program=program,
            arguments=(),
            parser=kernel_output.scalapack,
            files={f"{data}.dat": SCALAPACK_INPUTS[data]},
        )
        for name, what, program, data in (
            ("lu", "LU factorization", "xdlu", "LU"),
            ("cholesky", "Cholesky factorization", "xdllt", "LLT"),
            ("qr", "orthogonal factorizations", "xdqr", "QR"),
        )
    ),
)
