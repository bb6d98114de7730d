# SPDX-License-Identifier: BSD-3-Clause
"""Applications that people run, and their cases: short ones, whose results are known or must be those of bare; and what
each prints of its own time, and numbers that must be the same every time."""

from __future__ import annotations

import re

from harness.codes import inputs
from harness.codes.code import LEADING_TIME, TIME, Case, Code
from harness.codes.kernel_output import lammps
from harness.codes.output import Damaged, Output, Row, count, number, only, positive, processes, whole_lines


def dolfinx(text: str) -> Output:
    """FEniCSx's scaling test: the wall time of its solver; iterations and the solution's norm are its result."""
    iterations = only(r"Number of Krylov iterations:[ \t]*(\S+)", text, "the number of iterations")
    norm = only(r"Solution norm:[ \t]*(\S+)", text, "the solution's norm")
    count(iterations, "Number of Krylov iterations")
    if not number(norm, "Solution norm") > 0:
        raise Damaged(f"its solution's norm is {norm}")
    lines = [line.split("|") for line in text.splitlines() if line.startswith("ZZZ Solve")]
    words = lines[-1][-1].split() if lines else []
    if len(words) < 3:
        raise Damaged("it lacks the time of its solver")
    whole_lines(text)
    samples = {"time_s": positive(words[-1], "ZZZ Solve")}
    ran = processes(r"^\s*Num processes:\s*(\d+)\s*$", text)
    return Output([Row({}, samples)], f"{iterations} iterations, norm {norm}", ran)


def openfoam(text: str) -> Output:
    """OpenFOAM's solvers: the residuals of the last step are the result. The time that it prints is that of the CPU, so
    the whole time is the one that counts."""
    if "FOAM FATAL" in text:
        raise Damaged("it says FOAM FATAL")
    if not re.search(r"^End\s*$", text, re.MULTILINE):
        raise Damaged("it ends before its run did")
    step = text.rpartition("\nTime = ")[2]
    seconds = only(r"^ExecutionTime = (\S+) s", step, "the time of its last step")
    residuals = re.findall(r"Solving for (\w+), Initial residual = (\S+), Final residual = (\S+),", step)
    if not residuals:
        raise Damaged("its last step has no residuals")
    for name, *values in residuals:
        for value in values:
            number(value, f"residual of {name}")
    said = ", ".join(f"{name} {first} {last}" for name, first, last in residuals)
    at = step.split()[0].removesuffix("s")
    number(at, "Time")
    ran = processes(r"^nProcs : (\d+)\s*$", text)
    return Output([Row({}, {"cpu_s": positive(seconds, "ExecutionTime")})], f"{at} s: {said}", ran)


def quantum_espresso(text: str) -> Output:
    """pw.x: its wall time; the converged total energy and its accuracy are its result."""
    if "convergence has been achieved" not in text or "JOB DONE." not in text:
        raise Damaged("it did not converge, or ends before its run did")
    energy = only(r"^!\s+total energy\s+=\s+(\S+) Ry", text, "the total energy")
    number(energy, "total energy")
    accuracy = only(r"^\s+estimated scf accuracy\s+<\s+(\S+) Ry", text, "the accuracy of its energy")
    wall = only(r"^\s+PWSCF\s+:.*?CPU\s+(.*?)\s*WALL", text, "its time")
    cpu = only(r"^\s+PWSCF\s+:\s+(.*?)\s*CPU", text, "its time")
    decade = f"1e-{_decade(number(accuracy, 'accuracy')):02d}"
    samples = {"time_s": _clock(wall), "cpu_s": _clock(cpu)}
    return Output([Row({}, samples)], f"{energy} Ry, accuracy below {decade}", _processes_of_espresso(text))


def _processes_of_espresso(text: str) -> int:
    """Beside threads it says first on how many cores it runs, and then on how many processes."""
    if re.search(r"^\s+Serial (?:multi-threaded )?version", text, re.MULTILINE):
        return 1
    return processes(r"^\s+(?:Number of MPI processes:|Parallel version \(MPI.*\), running on)\s+(\d+)", text)


def _decade(value: float) -> int:
    """d of the smallest 1e-d that is not less than `value`."""
    decade = 0
    while decade < 99 and value <= 10.0 ** -(decade + 1):
        decade += 1
    return decade


def _clock(text: str) -> float:
    """Seconds of "1h 2m 3.45s", as pw.x writes a time."""
    found = re.fullmatch(r"(?:(\d+)h)?\s*(?:(\d+)m)?\s*(?:(\d+(?:\.\d*)?)s)?", text.strip())
    if found is None or not any(found.groups()):
        raise Damaged(f"its time: '{text}' is none")
    hours, minutes, seconds = (float(part or 0) for part in found.groups())
    return 3600 * hours + 60 * minutes + seconds


def meep(text: str) -> Output:
    """Meep: its own time; the fields that the script prints are its result."""
    seconds = only(r"^Elapsed run time = (\S+) s", text, "its time")
    if not re.search(r"^run 0 finished at t = ", text, re.MULTILINE):
        raise Damaged("it ends before its run did")
    fields = re.findall(r"^field:\s+(\S+)\s+(\S+)\s*$", text, re.MULTILINE)
    if not fields:
        raise Damaged("it lacks the fields")
    for at, value in fields:
        number(at, "time of a field")
        number(value, f"field at {at}")
    samples = {"time_s": positive(seconds, "Elapsed run time")}
    ran = processes(r"^Using MPI version \S+, (\d+) processes", text) or 1  # a build without MPI says nothing
    return Output([Row({}, samples)], ", ".join(f"{t}: {v}" for t, v in fields), ran)


def nwchem(text: str) -> Output:
    """NWChem: its wall time; the energy is the result, without its last digits: integrals go to whichever rank asks
    first, so that the order in which they are added is another in every run."""
    energy = number(only(r"^\s*Total SCF energy =\s+(\S+)", text, "the total energy"), "total energy")
    seconds = only(r"^ Total times\s+cpu:.*wall:\s+(\S+)s", text, "its time")
    samples = {"time_s": positive(seconds, "Total times")}
    return Output([Row({}, samples)], f"{energy:.8f} hartree", processes(r"^\s*nproc\s+=\s+(\d+)\s*$", text))


LAMMPS = Code(
    "lammps",
    "LAMMPS",
    ("lmp", "lmp_mpi"),
    debian=("lammps",),
    spack="lammps",
    cases=(
        Case(
            name="lammps-melt",
            title="LAMMPS: 32,000 atoms of a Lennard-Jones fluid",
            program="lmp",
            others=("lmp_mpi",),
            arguments=("-in", "in.melt", "-log", "none"),
            parser=lammps,
            any_ranks=True,
            points={"atoms": (32000,), "steps": (100,)},
            quantities={"time_s": LEADING_TIME},
            result=r"0: -4\.61343\d*, 100: -4\.6223\d*",
            files={"in.melt": inputs.MELT},
        ),
    ),
)

# GAMG would need its options; hypre is what Debian's PETSc has. The norm of the solution is printed with 6 digits.
_DOLFINX = "--problem_type poisson --scaling_type strong --ndofs 60000 -ksp_type {ksp} -ksp_rtol 1e-8 -pc_type jacobi"

DOLFINX = Code(
    "dolfinx",
    "FEniCSx",
    ("dolfinx-scaling-test",),
    debian=("fenicsx-performance-tests",),
    spack="fenics-dolfinx",
    cases=tuple(
        Case(
            name=f"dolfinx-poisson-{ksp}",
            title=f"dolfinx: Poisson's equation, PETSc's {ksp}",
            program="dolfinx-scaling-test",
            arguments=tuple(_DOLFINX.format(ksp=ksp).split()),
            parser=dolfinx,
            any_ranks=True,
            quantities={"time_s": LEADING_TIME},
            result=r"\d+ iterations, norm 52\.18\d*",
        )
        for ksp in ("cg", "pipecg")
    ),
)

OPENFOAM = Code(
    "openfoam",
    "OpenFOAM",
    ("icoFoam",),
    debian=("openfoam",),
    spack="openfoam",
    cases=(
        Case(
            name="openfoam-cavity",
            title="OpenFOAM: flow in a cavity, 100 x 100 cells",
            program="icoFoam",
            arguments=("-parallel",),
            parser=openfoam,
            any_ranks=True,
            quantities={"cpu_s": TIME},
            result=r"0\.05 s: Ux 0\.0002[67]\d* \S+, Uy 0\.0005[67]\d* \S+, p 0\.0006\d* \S+, p 0\.0006\d* \S+",
            files=inputs.CAVITY,
            prepare=(("blockMesh",), ("decomposePar", "-force")),
            folders={"WM_PROJECT_DIR": "../share/openfoam"},  # Debian's; another's file of settings says it itself
        ),
    ),
)

QUANTUM_ESPRESSO = Code(
    "quantum-espresso",
    "Quantum ESPRESSO",
    ("pw.x",),
    debian=("quantum-espresso", "quantum-espresso-data"),
    spack="quantum-espresso",
    cases=(
        Case(
            name="quantum-espresso-silicon",
            title="Quantum ESPRESSO: silicon, one self-consistent energy",
            program="pw.x",
            arguments=("-in", "si.in"),
            parser=quantum_espresso,
            any_ranks=True,
            quantities={"time_s": LEADING_TIME, "cpu_s": TIME},
            result=r"-15\.8508\d+ Ry, accuracy below 1e-(0[6-9]|\d\d)",
            files={"si.in": inputs.SILICON},
            copies=(("../share/espresso/pseudo/Si.pz-vbc.UPF", "../share/**/Si.pz-vbc.UPF"),),
        ),
    ),
)

MEEP = Code(
    "meep",
    "Meep",
    ("meep", "meep-openmpi", "meep-mpi"),
    debian=("meep-openmpi",),
    spack="meep",
    cases=(
        Case(
            name="meep-waveguide",
            title="Meep: light in a bent waveguide",
            program="meep",
            others=("meep-openmpi", "meep-mpi"),
            arguments=("bend.ctl",),
            parser=meep,
            quantities={"time_s": LEADING_TIME},
            result=r"25\.0: 1\.265\d*e-5, 50\.0: 2\.170\d*e-5, 75\.0: -4\.621\d*e-4, 100\.0: 0\.0025118\d*",
            files={"bend.ctl": inputs.BEND},
        ),
    ),
)

NWCHEM = Code(
    "nwchem",
    "NWChem (of Debian: for its MPICH)",
    ("nwchem.mpich", "nwchem"),
    debian=("nwchem-mpich",),
    spack="nwchem",
    cases=(
        Case(
            name="nwchem-water",
            title="NWChem: water, one self-consistent energy",
            program="nwchem.mpich",
            others=("nwchem",),
            arguments=("water.nw",),
            parser=nwchem,
            quantities={"time_s": LEADING_TIME},
            result=r"-76\.027107\d* hartree",
            files={"water.nw": inputs.WATER},
            environment={"ARMCI_USE_WIN_ALLOCATE": "0"},  # with MPICH its energies are wrong else: README.Debian
        ),
    ),
)

TACHYON = Code(
    "tachyon",
    "Tachyon (for SPEC MPI2007's 122.tachyon)",
    ("tachyon",),
    debian=("tachyon-bin-nox", "libtachyon-openmpi-0"),
    files=("usr/lib/*/libtachyon-openmpi.so.0",),
    note="with libtachyon-openmpi-0 Debian's alternatives give its program that library; run it by hand: "
    "./bench mpirun --mpi debian-openmpi --variant adaptive -n 2 -- tachyon SCENE.dat",
)

EXAML = Code(
    "examl",
    "ExaML (for SPEC MPI2007's 125.RAxML)",
    ("examl",),
    debian=("examl",),
    note="it wants an alignment and a tree, and a new name for each run; by hand, with Debian's example: "
    "gunzip -c /usr/share/doc/examl/testData/49.gz > 49 && parse-examl -s 49 -m DNA -n 49 && "
    "./bench mpirun --mpi debian-openmpi --variant adaptive -n 2 -- /usr/lib/examl/bin/examl-sse3 -s 49.binary "
    "-t /usr/share/doc/examl/testData/49.tree -m GAMMA -n NAME",
)
