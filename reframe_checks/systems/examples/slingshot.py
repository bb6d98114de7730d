# SPDX-License-Identifier: BSD-3-Clause
"""Slingshot, Slurm with srun, Cray MPICH by its module: an example to start from.

    ./bench site new slingshot.py --scheduler slurm --partition standard --account proj --fabric slingshot \\
        --modules-system lmod --cc cc --mpi cray-mpich=PrgEnv-gnu,cray-mpich/8.1.30 --cores 128 --reserve 1 \\
        --hostname '^uan[0-9]+'

The Cray's compiler wrapper finds the MPI of the loaded module, so it is the MPI's compiler:

    module load PrgEnv-gnu cray-mpich/8.1.30
    cmake -S . -B build/cray-mpich -G Ninja -DCMAKE_BUILD_TYPE=Release -DMPI_C_COMPILER=cc -DOVERLAP_BENCH_TESTS=OFF
    cmake --build build/cray-mpich

reframe_checks/systems/extras.py says what each of the extras means.
"""

from harness.base.paths import BUILD_DIR

site_configuration = {
    "systems": [
        {
            "name": "slingshot",
            # which hosts are its login nodes: regular expressions
            "hostnames": ["^uan[0-9]+"],
            "modules_system": "lmod",
            "partitions": [
                {
                    "name": "compute",
                    "scheduler": "slurm",
                    # how ranks start within a job; Cray's srun knows by itself which PMI the MPI speaks
                    "launcher": "srun",
                    # what every job is submitted with
                    "access": ["--partition=standard", "--account=proj"],
                    "environs": ["cray-mpich"],
                    # the environment of every job
                    "env_vars": [
                        # The adapter matches and fetches messages by itself (hardware, the default), so bare may
                        # overlap, and the engine stays off, unless its setting events is another than auto. Software
                        # leaves both to the MPI's calls:
                        # ["FI_CXI_RX_MATCH_MODE", "software"],
                    ],
                    # jobs on shared switches disturb each other: one at a time
                    "max_jobs": 1,
                    "features": ["remote", "rdma"],
                    "extras": {
                        "launch": "launcher",
                        "network": "Slingshot",
                        # it bypasses the counters of the network interfaces
                        "check_interfaces": False,
                        "cores": 128,
                        # each rank is given one more, so that the engine's threads take nothing from the computation
                        "progress_cores": 1,
                    },
                }
            ],
        }
    ],
    "environments": [
        {
            "name": "cray-mpich",
            "cc": "cc",
            "modules": ["PrgEnv-gnu", "cray-mpich/8.1.30"],
            "features": ["mpi"],
            # Cray MPICH gives MPI_THREAD_MULTIPLE only if it is told before that it may be asked for
            "env_vars": [["MPICH_MAX_THREAD_SAFETY", "multiple"]],
            "extras": {
                "mpi": "cray-mpich",
                # a word of MPI_Get_library_version: a run on another library has failed
                "library": "CRAY MPICH",
                # progress-run and the workloads, built for this MPI
                "bin_dir": str(BUILD_DIR / "cray-mpich" / "bin"),
                "async_progress": {"MPICH_ASYNC_PROGRESS": "1"},
            },
            "target_systems": ["slingshot"],
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
