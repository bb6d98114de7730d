// SPDX-License-Identifier: BSD-3-Clause
#include "offload/hand_over.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "mpi/abi.hpp"
#include "mpi/symbols.hpp"

namespace progress_engine::offload {

bool is_of_the_mpi(const void* caller) {
  // Open MPI's components and its layer below; the Fortran bindings are the program's side.
  constexpr std::array<std::string_view, 3> parts = {"mca_", "libopen-", "libmca_"};
  const auto library = library_of(caller);
  const auto begins = [&](std::string_view part) { return library.starts_with(part); };
  static const auto* mpi = new std::string(library_of(find_symbol("PMPI_Init")));  // whatever its vendor calls it
  return library == *mpi || is_mpi_library(library) || std::ranges::any_of(parts, begins);
}

}  // namespace progress_engine::offload
