// SPDX-License-Identifier: BSD-3-Clause
// Prints what the driver for this MPI is, what it did in three polls, and what it left.
#include <cstdio>
#include <stdexcept>

#include "mpi/progress.hpp"

extern "C" int mpi_tests, mpi_pending, mpi_communicators;

int main() {
  using namespace progress_engine;
  {
    const auto drivers = make_progress_functions("auto", {}, Origin::world);
    for (int i = 0; i < 3; ++i) drivers.front()->poll();
    for (const auto& driver : drivers) std::printf("%s ", driver->name().c_str());
    std::printf("%d tests, %d pending, %d communicators\n", mpi_tests, mpi_pending, mpi_communicators);
  }
  std::printf("left: %d pending, %d communicators\n", mpi_pending, mpi_communicators);
  try {
    make_progress_functions("stream", {}, Origin::world);
  } catch (const std::runtime_error& error) {
    std::printf("%s\n", error.what());
  }
}
