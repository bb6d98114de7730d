# SPDX-License-Identifier: BSD-3-Clause
"""InfiniBand, Slurm with srun, all from Spack: an example to start from.

    ./bench spack site infiniband --template infiniband
    ./bench site new infiniband.py --scheduler slurm --partition batch --account abc123 --fabric infiniband \\
        --mpi openmpi --mpi mpich --mpi mvapich2 --spack-site infiniband --cores 64 --hostname '^login[0-9]+'

Here every MPI, the engine and the workloads are Spack's: nothing is loaded by hand, and the records hold the concrete
specs. reframe_checks/systems/extras.py says what each of the extras means.
"""

from reframe_checks.systems.common import spack_environment

site_configuration = {
    "systems": [
        {
            "name": "infiniband",
            # which hosts are its login nodes: regular expressions
            "hostnames": ["^login[0-9]+"],
            "modules_system": "nomod",
            "partitions": [
                {
                    "name": "compute",
                    "scheduler": "slurm",
                    # how ranks start within a job; each MPI says below which PMI it speaks with srun
                    "launcher": "srun",
                    # what every job is submitted with; add "--exclusive" where nodes are shared with other users
                    "access": ["--partition=batch", "--account=abc123"],
                    "environs": ["openmpi", "mpich", "mvapich2"],
                    # the environment of every job
                    "env_vars": [
                        # Adapters from ConnectX-5 on can match messages by themselves, which is off by default. With
                        # these two lines UCX lets them; the engine then stays off, unless its setting events is another
                        # than auto:
                        # ["UCX_RC_MLX5_TM_ENABLE", "y"],
                        # ["UCX_DC_MLX5_TM_ENABLE", "y"],
                    ],
                    # jobs on shared switches disturb each other: one at a time
                    "max_jobs": 1,
                    "features": ["remote", "rdma"],
                    "extras": {
                        "launch": "launcher",
                        "network": "InfiniBand",
                        # it bypasses the counters of the network interfaces
                        "check_interfaces": False,
                        # the cores of a node: points that need more are skipped, with this as the reason
                        "cores": 64,
                        # beside its own, for the engine's threads
                        "progress_cores": 0,
                    },
                }
            ],
        }
    ],
    "environments": [
        # (site, environment of spack_env/environments, this system's name, environment variables)
        spack_environment("infiniband", "openmpi", "infiniband", {"SLURM_MPI_TYPE": "pmix"}),
        spack_environment("infiniband", "mpich", "infiniband", {"SLURM_MPI_TYPE": "pmi2"}),
        # MVAPICH2 of the papers. Its own binding is off (MV2_ENABLE_AFFINITY=0): else it gives no MPI_THREAD_MULTIPLE.
        spack_environment("infiniband", "mvapich2", "infiniband", {"SLURM_MPI_TYPE": "pmi2"}),
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
