// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/quirks.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>
#include <string>
#include <utility>

#include "mpi/mpi_header.hpp"

namespace progress_engine {
namespace {

// Also as a vendor's, which has the same code below a name of its own.
bool is_open_mpi(std::string_view description) {
  constexpr std::array<std::string_view, 3> names = {"Open MPI", "Spectrum MPI", "FUJITSU MPI"};
  return std::ranges::any_of(names, [&](auto name) { return description.find(name) != std::string_view::npos; });
}

// "4.1.2" -> 4, 1; zeros where there is no number.
std::pair<int, int> release_in(const std::string& text) {
  std::pair<int, int> release{};
  const char* end = text.data() + text.size();
  const char* begin = text.data() + std::min(text.find_first_not_of(" \t"), text.size());
  const auto major = std::from_chars(begin, end, release.first);
  if (major.ptr != end && *major.ptr == '.') std::from_chars(major.ptr + 1, end, release.second);
  return release;
}

}  // namespace

Quirks quirks_of(std::string_view description) {
  constexpr std::string_view mpich = "MPICH Version:";
  Quirks quirks;
  if (is_open_mpi(description)) {
    quirks.files_alone = quirks.partitioned_alone = true;
    quirks.windows_below_multiple = description.find("Open MPI v4.") != std::string_view::npos;
  } else {  // whose ABI all others have
    quirks.testsome_differs = quirks.replace_sets_error = true;
  }
  quirks.receive_sets_error = description.find("Intel(R) MPI") != std::string_view::npos;
  if (const auto at = description.find(mpich); at != std::string_view::npos)
    quirks.ends_together = description.find("ch4:ucx") != std::string_view::npos &&
                           release_in(std::string(description.substr(at + mpich.size()))) < std::pair{4, 2};
  return quirks;
}

Quirks quirks_of_this_mpi() { return quirks_of(description_of_this_mpi()); }

std::string description_of_this_mpi() {
  constexpr std::size_t longest_of_all = 8192;  // MPICH's and the standard's ABI; Open MPI's has 256
  static_assert(MPI_MAX_LIBRARY_VERSION_STRING <= longest_of_all);
  const auto describe = reinterpret_cast<int (*)(char*, int*)>(find_symbol("PMPI_Get_library_version"));
  std::array<char, longest_of_all> description{};
  int length = 0;
  if (describe) describe(description.data(), &length);
  return description.data();
}

std::string short_description(std::string_view description) {
  std::istringstream words(std::string(description.substr(0, description.find_first_of(",\n"))));
  std::string text;
  for (std::string word; words >> word;) text += (text.empty() ? "" : " ") + word;
  return text;
}

}  // namespace progress_engine
