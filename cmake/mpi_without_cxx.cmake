# SPDX-License-Identifier: BSD-3-Clause
# After find_package(MPI): C++ sources see MPI's C interface alone. Some mpi.h otherwise bring C++ classes as well, which
# left the standard with MPI 3.0 and need a second library.
target_compile_definitions(MPI::MPI_C INTERFACE MPICH_SKIP_MPICXX OMPI_SKIP_MPICXX)
