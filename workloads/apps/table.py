# SPDX-License-Identifier: BSD-3-Clause
"""The codes: where each comes from, what it is called there, and the cases that are run of those that are run here.

A case's points are lines of the code's own output; what it verifies itself is believed only if it says so in words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from workloads.apps import programs, tables
from workloads.apps.reading import Parser, Value


@dataclass(frozen=True)
class Quantity:
    """As a record's header declares it."""

    unit: str
    better: str
    leading: bool = False

    def declared(self) -> dict[str, Any]:
        return {"unit": self.unit, "better": self.better, "leading": self.leading}


@dataclass(frozen=True)
class Case:
    """One way to run a code. `files`: what it reads in its folder, by name; `points`: axis -> values."""

    name: str
    title: str
    program: str
    arguments: tuple[str, ...]
    parser: Parser
    points: Mapping[str, tuple[Value, ...]]
    quantities: Mapping[str, Quantity]
    ranks: int = 2
    result: str = ""  # a regular expression of the right one, where the code does not verify it by itself
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Code:
    """`names`: its programs, any of which shows that it is there; `wheel`: the MPI of harness.base.mpis whose wheels
    have it; `debian`: packages, linked to Debian's default MPI; `spack`: its package there; `note`: what else to know.
    """

    name: str
    title: str
    names: tuple[str, ...]
    debian: tuple[str, ...] = ()
    spack: str = ""
    wheel: str = ""
    cases: tuple[Case, ...] = ()
    note: str = ""

    def how_to_get(self) -> str:
        """In words."""
        ways = [
            f"./bench apps install {self.name}" if self.debian or self.wheel else "",
            f"spack install {self.spack}" if self.spack else "",
        ]
        return "; or ".join(filter(None, ways)) or self.note


TIME = Quantity("s", "lower")
SHARE = Quantity("1", "higher")
RATE = Quantity("B/s", "higher")
LEADING_TIME = Quantity("s", "lower", leading=True)

SIZES = (1024, 65536, 1048576)
# Of the sizes in a file and of no others. The limit is for a hang alone: a size that reaches it has no numbers at all.
_IMB = ("-npmin", "2", "-iter", "20", "-iter_policy", "off", "-time", "30", "-msglen", "sizes")
_IMB_FILES = {"sizes": "".join(f"{size}\n" for size in SIZES)}
IMB_CASES = (
    Case(
        name="imb-point-to-point",
        title="IMB: a ping-pong between two ranks",
        program="IMB-MPI1",
        arguments=(*_IMB, "PingPong"),
        parser=tables.imb,
        points={"benchmark": ("PingPong",), "size_bytes": SIZES},
        quantities={"latency_s": LEADING_TIME, "bytes_per_s": RATE},
        files=_IMB_FILES,
    ),
    Case(
        name="imb-nonblocking-collectives",
        title="IMB: nonblocking collective operations beside a computation",
        program="IMB-NBC",
        arguments=(*_IMB, "Ibcast", "Iallreduce", "Ialltoall"),
        parser=tables.imb,
        points={"benchmark": ("Ibcast", "Iallreduce", "Ialltoall"), "size_bytes": SIZES},
        quantities={"overall_s": LEADING_TIME, "pure_s": TIME, "compute_s": TIME, "overlap": SHARE},
        files=_IMB_FILES,
    ),
)

# The melt that LAMMPS is commonly timed by: 32,000 atoms of a Lennard-Jones fluid, 100 steps.
MELT = """units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 20 0 20 0 20
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify delay 0 every 20 check no
fix 1 all nve
thermo_style custom step temp epair emol etotal press
thermo 100
run 100
"""

CODES = (
    Code(
        "intel-mpi-benchmarks",
        "Intel MPI Benchmarks",
        ("IMB-MPI1", "IMB-NBC", "IMB-P2P", "IMB-MT", "IMB-RMA"),
        spack="intel-mpi-benchmarks",
        wheel="intel-mpi",
        cases=IMB_CASES,
        note="the wheel's run on MPICH as well, which has the same binary interface",
    ),
    Code("osu-micro-benchmarks", "OSU Micro-Benchmarks", ("osu_latency", "osu_ibcast"), spack="osu-micro-benchmarks"),
    Code("npb", "NAS Parallel Benchmarks", ("cg.S.x", "ft.S.x", "is.S.x"), spack="npb implementation=mpi"),
    Code("p3dfft", "P3DFFT 2.7", ("test_sine_r.x",), note="built by hand from its repository"),
    Code("p3dfft3", "P3DFFT++ 3", ("test3D_r2c_cpp",), spack="p3dfft3"),
    Code("minife", "miniFE", ("miniFE.x",), spack="minife build=ref"),
    Code("minighost", "miniGhost", ("miniGhost.x", "miniGhost"), spack="minighost"),
    Code("hpcg", "HPCG", ("xhpcg",), spack="hpcg"),
    Code("himeno", "Himeno's original", ("himenoBMTxpr", "bmt"), note="built by hand from RIKEN's site"),
    Code(
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
                arguments=("-in", "in.melt", "-log", "none"),
                parser=programs.lammps,
                points={"atoms": (32000,), "steps": (100,)},
                quantities={"time_s": LEADING_TIME},
                result=r"0: -4\.61343\d*, 100: -4\.6223\d*",
                files={"in.melt": MELT},
            ),
        ),
    ),
    Code(
        "dolfinx",
        "FEniCSx",
        ("dolfinx-scaling-test",),
        debian=("fenicsx-performance-tests",),
        spack="fenics-dolfinx",
    ),
    Code("openfoam", "OpenFOAM", ("icoFoam",), debian=("openfoam",), spack="openfoam"),
    Code("quantum-espresso", "Quantum ESPRESSO", ("pw.x",), debian=("quantum-espresso",), spack="quantum-espresso"),
    Code("meep", "Meep", ("meep", "meep-openmpi"), debian=("meep-openmpi",), spack="meep"),
    Code("hpcc", "HPC Challenge", ("hpcc",), debian=("hpcc",), spack="hpcc"),
    Code(
        "tachyon",
        "Tachyon (for SPEC MPI2007's 122.tachyon)",
        ("tachyon",),
        debian=("tachyon-bin-nox", "libtachyon-openmpi-0"),
        note="its program is linked to the serial library unless the loader is given the other",
    ),
    Code("examl", "ExaML (for SPEC MPI2007's 125.RAxML)", ("examl",), debian=("examl",)),
    Code(
        "spec-mpi2007",
        "SPEC MPI2007",
        ("runspec",),
        note="licensed: SPEC_MPI2007 names the folder of an installation of your own",
    ),
)

CASES = {case.name: (code, case) for code in CODES for case in code.cases}
