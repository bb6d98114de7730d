# SPDX-License-Identifier: BSD-3-Clause
"""Applications that people run, and their cases: short ones, whose results are known or must be those of bare."""

from __future__ import annotations

from workloads.apps import inputs, solvers
from workloads.apps.model import LEADING_TIME, TIME, Case, Code
from workloads.apps.programs import lammps

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
            parser=solvers.dolfinx,
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
            parser=solvers.openfoam,
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
            parser=solvers.quantum_espresso,
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
            parser=solvers.meep,
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
            parser=solvers.nwchem,
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
