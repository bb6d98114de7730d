# SPDX-License-Identifier: BSD-3-Clause
"""Omni-Path, PBS with each MPI's own launcher, MPIs from Lmod's modules: an example to start from.

    ./bench site new omnipath.py --scheduler pbs --launcher mpirun --partition workq --fabric omnipath \\
        --modules-system lmod --mpi intel-oneapi-mpi=intel-mpi/2021.11 --mpi mvapich2=gcc/12,mvapich2/2.3.7-psm2 \\
        --cores 48 --hostname '^fe[0-9]'

The MPIs are the site's own, so the engine and the workloads are built for each by hand before the first run:

    module load gcc/12 mvapich2/2.3.7-psm2
    cmake -S . -B build/mvapich2 -G Ninja -DCMAKE_BUILD_TYPE=Release -DMPI_C_COMPILER=mpicc -DOVERLAP_BENCH_TESTS=OFF
    cmake --build build/mvapich2

reframe_checks/systems/extras.py says what each of the extras means.
"""

from harness.base.paths import BUILD_DIR

site_configuration = {
    "systems": [
        {
            "name": "omnipath",
            # which hosts are its login nodes: regular expressions
            "hostnames": ["^fe[0-9]"],
            "modules_system": "lmod",
            "partitions": [
                {
                    "name": "compute",
                    "scheduler": "pbs",
                    # how ranks start within a job: mpirun as it is on PATH after the modules are loaded
                    "launcher": "mpirun",
                    # what every job is submitted with
                    "access": ["-q workq"],
                    "environs": ["intel-oneapi-mpi", "mvapich2"],
                    # the environment of every job
                    "env_vars": [
                        # A thread of PSM2 receives beside the program, so bare may overlap, and the engine stays off,
                        # unless its setting events is another than auto. Without that thread the engine has its work,
                        # and the core is free:
                        # ["PSM2_RCVTHREAD", "0"],
                    ],
                    # jobs on shared switches disturb each other: one at a time
                    "max_jobs": 1,
                    "features": ["remote", "rdma"],
                    "extras": {
                        "launch": "launcher",
                        "network": "Omni-Path",
                        # PSM2 bypasses the counters of the network interfaces
                        "check_interfaces": False,
                        "cores": 48,
                        # beside its own, for the engine's threads
                        "progress_cores": 0,
                    },
                }
            ],
        }
    ],
    "environments": [
        {
            "name": "intel-oneapi-mpi",
            "cc": "mpicc",
            # loaded in this order in each job, before anything else
            "modules": ["intel-mpi/2021.11"],
            "features": ["mpi"],
            "env_vars": [],
            "extras": {
                "mpi": "intel-oneapi-mpi",
                # a word of MPI_Get_library_version: a run on another library has failed
                "library": "Intel(R) MPI",
                # progress-run and the workloads, built for this MPI
                "bin_dir": str(BUILD_DIR / "intel-oneapi-mpi" / "bin"),
                "async_progress": {"I_MPI_ASYNC_PROGRESS": "1"},
            },
            "target_systems": ["omnipath"],
        },
        {
            "name": "mvapich2",
            "cc": "mpicc",
            "modules": ["gcc/12", "mvapich2/2.3.7-psm2"],
            "features": ["mpi"],
            # else MVAPICH2 binds the ranks itself, and gives no MPI_THREAD_MULTIPLE
            "env_vars": [["MV2_ENABLE_AFFINITY", "0"]],
            "extras": {
                "mpi": "mvapich2",
                # a word of MPI_Get_library_version: a run on another library has failed
                "library": "MVAPICH2 Version",
                # progress-run and the workloads, built for this MPI
                "bin_dir": str(BUILD_DIR / "mvapich2" / "bin"),
                "async_progress": {"MPICH_ASYNC_PROGRESS": "1", "MV2_ASYNC_PROGRESS": "1"},
            },
            "target_systems": ["omnipath"],
        },
    ],
    "logging": [
        {
            "handlers": [{"type": "stream", "name": "stdout", "level": "info", "format": "%(message)s"}],
            "handlers_perflog": [
                {
                    "type": "filelog",
                    "prefix": "%(check_system)s/%(check_partition)s",
                    "level": "info",
                    "append": True,
                    "format": "%(check_result)s|%(check_display_name)s|%(check_environ)s|%(check_perfvalues)s",
                    "format_perfvars": "%(check_perf_value)s|%(check_perf_unit)s|",
                }
            ],
        }
    ],
}
