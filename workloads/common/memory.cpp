// SPDX-License-Identifier: BSD-3-Clause
#include "common/memory.h"

#include <fmt/format.h>
#include <mpi.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <limits>

#include "common/errors.h"
#include "common/meminfo.h"
#include "common/mpi_process.h"

namespace workloads {
namespace {

int ranks_of_this_node() {
  MPI_Comm node = MPI_COMM_NULL;
  require(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node), "MPI_Comm_split_type");
  int ranks = 1;
  require(MPI_Comm_size(node, &ranks), "MPI_Comm_size");
  require(MPI_Comm_free(&node), "MPI_Comm_free");
  return ranks;
}

double limit_of_address_space() {
  rlimit limit{};
  const bool limited = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return limited ? static_cast<double>(limit.rlim_cur) : std::numeric_limits<double>::infinity();
}

}  // namespace

void require_memory(const std::string& what, double bytes_a_rank) {
  constexpr double gigabyte = 1e9;
  std::ifstream file("/proc/meminfo");
  double there = std::min(parse_available_bytes(file) / ranks_of_this_node(), limit_of_address_space());
  require(MPI_Allreduce(MPI_IN_PLACE, &there, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD), "MPI_Allreduce");
  if (bytes_a_rank > there) {
    throw UsageError(
        fmt::format("{} takes {:.1f} GB of memory a rank, and {:.1f} GB are there for each: start more "
                    "ranks on more nodes or take a smaller problem",
                    what, bytes_a_rank / gigabyte, there / gigabyte));
  }
}

}  // namespace workloads
