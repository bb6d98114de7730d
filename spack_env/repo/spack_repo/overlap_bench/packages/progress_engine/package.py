# SPDX-License-Identifier: BSD-3-Clause
"""Spack's recipe of the engine."""

from pathlib import Path

from spack.package import InstallError, any_combination_of, depends_on, license, requires, run_before, variant, version
from spack_repo.builtin.build_systems.cmake import CMakePackage


class ProgressEngine(CMakePackage):
    """A progress engine for MPI: preloaded into an unmodified program, it makes messages move while it computes."""

    # The checkout that this recipe stands in is the repository: what is built belongs to the checks that run it.
    git = str(Path(__file__).resolve().parents[6])

    license("BSD-3-Clause")

    version("main", branch="main")

    variant(
        "ult",
        values=any_combination_of("argobots", "boost_fiber"),
        description="Adapters for user-level threads: who waits in MPI lets other threads of the same core run",
    )
    variant("fortran", default=False, description="For programs in Fortran, too: an MPI with its Fortran bindings")
    variant("standard_abi", default=False, description="For programs of MPI 5's standard ABI, too, in the same prefix")
    variant("tests", default=False, description="Build the unit tests and run them with spack install --test")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("python@3.10:", type="build")  # writes the interposer for this MPI's mpi.h
    depends_on("cli11@2.1:", type="build")
    depends_on("fmt@9:", type="build")
    depends_on("nlohmann-json@3.10:", type="build")
    depends_on("googletest@1.12: +gmock", type="build", when="+tests")
    depends_on("argobots", when="ult=argobots")
    depends_on("boost@1.74: +fiber+context", when="ult=boost_fiber")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("mpi")

    for _mpi in ("mpich", "openmpi"):  # the others have no build without
        requires(f"^{_mpi}+fortran", when=f"+fortran ^[virtuals=mpi] {_mpi}", msg="This MPI has no Fortran bindings.")
    requires("^[virtuals=mpi] mpich@5:", when="+standard_abi", msg="Of Spack's MPIs only MPICH 5 has mpicc_abi.")
    requires("%gcc@12:", "%clang@15:", policy="one_of", msg="The engine is written in C++20.")
    requires("platform=linux", msg="The engine waits on Linux's futex, epoll and eventfd.")

    @property
    def root_cmakelists_dir(self):
        """A path to develop from is the engine's own folder; a checkout is the whole repository."""
        return "." if self.spec.is_develop else "progress_engine"

    def cmake_args(self):
        """The MPI's own wrapper: asked for by name, since FindMPI may meet another MPI first.

        What is not asked for is not looked for: the system may have it, and the build would not be what the spec says.
        """
        args = [] if self.spec.satisfies("ult=argobots") else ["-DPE_ARGOBOTS_LIBRARY=OFF"]
        return [
            *args,
            self.define("MPI_C_COMPILER", self.spec["mpi"].mpicc),
            self.define("CMAKE_DISABLE_FIND_PACKAGE_Boost", not self.spec.satisfies("ult=boost_fiber")),
            # the costs of the engine are measured from a checkout (./bench engine-costs)
            self.define("CMAKE_DISABLE_FIND_PACKAGE_benchmark", True),
            self.define_from_variant("OVERLAP_BENCH_TESTS", "tests"),
        ]

    @run_before("cmake", when="+standard_abi")
    def install_for_standard_abi(self):
        """A second build. First, since the tools that stay are those installed last: they take a program that names no
        MPI for one of the MPI's own ABI.
        """
        wrapper = f"{self.spec['mpi'].mpicc}_abi"
        if not Path(wrapper).exists():
            raise InstallError(f"{wrapper} is not there: MPICH has it where it was configured with --enable-mpi-abi.")
        folder = f"{self.build_directory}-standard-abi"
        options = [*self.std_cmake_args, *self.cmake_args(), self.define("MPI_C_COMPILER", wrapper)]
        self.module.cmake("-S", self.root_cmakelists_dir, "-B", folder, *options)
        self.module.cmake("--build", folder, "--parallel", str(self.module.make_jobs), "--target", "install")
