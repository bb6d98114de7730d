# SPDX-License-Identifier: BSD-3-Clause
"""All codes, in the order in which they are listed, and the cases that are run of them.

A case's points are lines of the code's own output; what it verifies itself is believed only if it says so in words.
"""

from __future__ import annotations

from harness.codes import applications, benchmarks, kernels, spec_mpi2007

CODES = (
    benchmarks.IMB,
    benchmarks.OSU,
    benchmarks.IMB_ASYNC,
    benchmarks.MPI_PROGRESS,
    kernels.NPB,
    kernels.P3DFFT,
    kernels.P3DFFT3,
    kernels.MINIFE,
    kernels.MINIGHOST,
    kernels.HPCG,
    kernels.HIMENO,
    kernels.HPCC,
    kernels.SCALAPACK,
    applications.LAMMPS,
    applications.DOLFINX,
    applications.OPENFOAM,
    applications.QUANTUM_ESPRESSO,
    applications.MEEP,
    applications.NWCHEM,
    applications.TACHYON,
    applications.EXAML,
    spec_mpi2007.SPEC_MPI2007,
)

CASES = {case.name: (code, case) for code in CODES for case in code.cases}
