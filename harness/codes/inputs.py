# SPDX-License-Identifier: BSD-3-Clause
"""What the codes read: written here, so that everybody runs the same."""

from __future__ import annotations

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

SILICON = """&control
  calculation = 'scf'
  prefix = 'si'
  pseudo_dir = './'
  outdir = './out'
/
&system
  ibrav = 2
  celldm(1) = 10.2
  nat = 2
  ntyp = 1
  ecutwfc = 24.0
/
&electrons
  conv_thr = 1.0d-8
/
ATOMIC_SPECIES
 Si 28.086 Si.pz-vbc.UPF
ATOMIC_POSITIONS alat
 Si 0.00 0.00 0.00
 Si 0.25 0.25 0.25
K_POINTS automatic
 4 4 4 1 1 1
"""

# A guide of silicon that turns by 90 degrees; a field at its end is the result.
BEND = """(set! geometry-lattice (make lattice (size 16 16 no-size)))
(set! geometry (list
  (make block (center -2 -3.5) (size 12 1 infinity) (material (make dielectric (epsilon 12))))
  (make block (center 3.5 2) (size 1 12 infinity) (material (make dielectric (epsilon 12))))))
(set! pml-layers (list (make pml (thickness 1.0))))
(set! resolution 10)
(set! sources (list
  (make source (src (make continuous-src (wavelength (* 2 (sqrt 11))) (width 20)))
               (component Ez) (center -7 -3.5) (size 0 1))))
(run-until 100 (at-every 25 (lambda ()
  (print "field: " (meep-time) " " (real-part (get-field-point Ez (vector3 3.5 4))) "\\n"))))
"""

_HEAD = "FoamFile {{ version 2.0; format ascii; class {kind}; object {name}; }}\n"
_NO_SLIP = "movingWall { type %s } fixedWalls { type %s } frontAndBack { type empty; }"


def _foam(kind: str, name: str, text: str) -> str:
    return _HEAD.format(kind=kind, name=name) + text + "\n"


# The lid-driven cavity by which OpenFOAM is introduced, of 100 x 100 cells, 100 steps.
CAVITY = {
    "system/blockMeshDict": _foam(
        "dictionary",
        "blockMeshDict",
        """scale 0.1;
vertices ((0 0 0) (1 0 0) (1 1 0) (0 1 0) (0 0 0.1) (1 0 0.1) (1 1 0.1) (0 1 0.1));
blocks (hex (0 1 2 3 4 5 6 7) (100 100 1) simpleGrading (1 1 1));
edges ();
boundary (
  movingWall { type wall; faces ((3 7 6 2)); }
  fixedWalls { type wall; faces ((0 4 7 3) (2 6 5 1) (1 5 4 0)); }
  frontAndBack { type empty; faces ((0 3 2 1) (4 5 6 7)); }
);
mergePatchPairs ();""",
    ),
    "system/controlDict": _foam(
        "dictionary",
        "controlDict",
        """application icoFoam;
startFrom startTime; startTime 0; stopAt endTime; endTime 0.05; deltaT 0.0005;
writeControl timeStep; writeInterval 1000000; writeFormat ascii; writePrecision 6;
timeFormat general; timePrecision 6; runTimeModifiable false;""",
    ),
    "system/fvSchemes": _foam(
        "dictionary",
        "fvSchemes",
        """ddtSchemes { default Euler; }
gradSchemes { default Gauss linear; grad(p) Gauss linear; }
divSchemes { default none; div(phi,U) Gauss linear; }
laplacianSchemes { default Gauss linear orthogonal; }
interpolationSchemes { default linear; }
snGradSchemes { default orthogonal; }""",
    ),
    "system/fvSolution": _foam(
        "dictionary",
        "fvSolution",
        """solvers {
  p { solver PCG; preconditioner DIC; tolerance 1e-06; relTol 0.05; }
  pFinal { $p; relTol 0; }
  U { solver smoothSolver; smoother symGaussSeidel; tolerance 1e-05; relTol 0; }
}
PISO { nCorrectors 2; nNonOrthogonalCorrectors 0; pRefCell 0; pRefValue 0; }""",
    ),
    "system/decomposeParDict": _foam(
        "dictionary",
        "decomposeParDict",
        "numberOfSubdomains {ranks};\nmethod simple;\nsimpleCoeffs { n ({ranks} 1 1); delta 0.001; }",
    ),
    "constant/transportProperties": _foam("dictionary", "transportProperties", "nu [0 2 -1 0 0 0 0] 0.01;"),
    "0/p": _foam(
        "volScalarField",
        "p",
        "dimensions [0 2 -2 0 0 0 0]; internalField uniform 0;\nboundaryField { "
        + _NO_SLIP % ("zeroGradient;", "zeroGradient;")
        + " }",
    ),
    "0/U": _foam(
        "volVectorField",
        "U",
        "dimensions [0 1 -1 0 0 0 0]; internalField uniform (0 0 0);\nboundaryField { "
        + _NO_SLIP % ("fixedValue; value uniform (1 0 0);", "noSlip;")
        + " }",
    ),
}

# HPL's own lines, then those of the transposition. The first two are not read.
HPCC_INPUT = """HPL input file
small, for two ranks
HPL.out      output file name (if any)
8            device out (6=stdout,7=stderr,file)
1            # of problems sizes (N)
1000         Ns
1            # of NBs
80           NBs
0            PMAP process mapping (0=Row-,1=Column-major)
1            # of process grids (P x Q)
1            Ps
2            Qs
16.0         threshold
1            # of panel fact
2            PFACTs (0=left, 1=Crout, 2=Right)
1            # of recursive stopping criterium
4            NBMINs (>= 1)
1            # of panels in recursion
2            NDIVs
1            # of recursive panel fact.
1            RFACTs (0=left, 1=Crout, 2=Right)
1            # of broadcast
1            BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
1            # of lookahead depth
1            DEPTHs (>=0)
2            SWAP (0=bin-exch,1=long,2=mix)
64           swapping threshold
0            L1 in (0=transposed,1=no-transposed) form
0            U  in (0=transposed,1=no-transposed) form
1            Equilibration (0=no,1=yes)
8            memory alignment in double (> 0)
##### This line (no. 32) is ignored (it serves as a separator). ######
0            Number of additional problem sizes for PTRANS
1200 10000 30000 values of N
0            number of additional blocking sizes for PTRANS
40 9 8 13 13 20 16 32 64 values of NB
"""


def _scalapack(title: str, own: str, values: str, threshold: float) -> str:
    """What ScaLAPACK's test programs read, line by line: the first word counts, in apostrophes a string."""
    head = f"'{title}'\n'for two ranks'\n'out' file name (if any)\n6 device out (6: stdout)\n"
    grids = "2 number of process grids\n1 2 values of P\n2 1 values of Q\n"
    return f"{head}{own}{values}{grids}{threshold} threshold\n"


_SIZES = "2 number of problem sizes\n"
_BLOCKS = "2 number of NB's\n5 32 values of NB\n"
_RIGHT_SIDES = "1 number of NRHS's\n9 values of NRHS\n1 number of NBRHS's\n5 values of NBRHS\n"
# Whether the condition is estimated and the solution refined: with T, Debian's xdlu 2.2.1 is ended by an illegal value
# of its own in PDGETRS, on any grid of two, without the engine.
_NO_REFINEMENT = "F\n"

SCALAPACK = {
    "LU": _scalapack(
        "LU factorization", "", f"{_SIZES}57 600 values of M\n50 600 values of N\n{_BLOCKS}{_RIGHT_SIDES}", 1.0
    )
    + _NO_REFINEMENT,
    "LLT": _scalapack("Cholesky factorization", "'U'\n", f"{_SIZES}57 500 values of N\n{_BLOCKS}{_RIGHT_SIDES}", 3.0)
    + _NO_REFINEMENT,
    "QR": _scalapack(
        "orthogonal factorizations",
        "3 number of factorizations\n'QR' 'LQ' 'QP' factorizations\n",
        f"{_SIZES}57 300 values of M\n50 300 values of N\n1 number of blocks\n32 values of MB\n32 values of NB\n",
        5.0,
    ),
}

WATER = """start water
geometry units angstroms
  O 0.000  0.000  0.117
  H 0.000  0.757 -0.470
  H 0.000 -0.757 -0.470
end
basis
  * library cc-pvdz
end
task scf energy
"""
