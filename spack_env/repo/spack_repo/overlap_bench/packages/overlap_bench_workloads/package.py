# SPDX-License-Identifier: BSD-3-Clause
"""Spack's recipe of the workloads."""

from pathlib import Path

from spack.package import depends_on, license, requires, variant, version
from spack_repo.builtin.build_systems.cmake import CMakePackage


class OverlapBenchWorkloads(CMakePackage):
    """The programs with which Overlap Bench measures what MPI communication does while a program computes."""

    git = str(Path(__file__).resolve().parents[6])

    license("BSD-3-Clause")

    version("main", branch="main")

    variant("core", default=True, description="The workload of pioman's task queues, with these")
    variant("ult", default=True, description="The workload of user-level threads, over Boost.Fiber")
    variant("tests", default=False, description="Build the unit tests and run them with spack install --test")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("cli11@2.1:", type="build")
    depends_on("fmt@9:")
    depends_on("fftw@3: ~mpi precision=double")
    depends_on("nlohmann-json@3.10:", type="build")
    depends_on("googletest@1.12: +gmock", type="build", when="+tests")
    depends_on("hwloc@2:", when="+core")
    depends_on("boost@1.74: +fiber+context", when="+ult")
    depends_on("progress-engine ult=boost_fiber", when="+ult")  # loaded at run time: suspends who waits in MPI
    depends_on("mpi")

    requires("%gcc@12:", "%clang@15:", policy="one_of", msg="The workloads are written in C++20.")
    requires("platform=linux", msg="The workloads read Linux's counters of CPUs and interfaces.")

    @property
    def root_cmakelists_dir(self):
        """A path to develop from is the workloads' own folder; a checkout is the whole repository."""
        return "." if self.spec.is_develop else "workloads"

    def cmake_args(self):
        """The MPI's own wrapper: asked for by name, since FindMPI may meet another MPI first.

        What is not asked for is not looked for: the system may have it, and the build would not be what the spec says.
        """
        args = [] if "+core" in self.spec else ["-DHWLOC_LIBRARY=OFF"]
        return [
            *args,
            self.define("MPI_C_COMPILER", self.spec["mpi"].mpicc),
            self.define("CMAKE_DISABLE_FIND_PACKAGE_Boost", "~ult" in self.spec),
            self.define_from_variant("OVERLAP_BENCH_TESTS", "tests"),
        ]
