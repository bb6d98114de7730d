// SPDX-License-Identifier: BSD-3-Clause
#include "common/mpi_process.h"

#include <fmt/format.h>
#include <mpi.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>
#include <numeric>
#include <string_view>

#include "common/clock.h"
#include "common/errors.h"
#include "common/kernel_counters.h"

namespace workloads {
namespace {

struct NamedLevel {
  std::string name;
  int level;
};

const std::vector<NamedLevel>& levels() {
  static const std::vector<NamedLevel> table{
      {.name = "single", .level = MPI_THREAD_SINGLE},
      {.name = "funneled", .level = MPI_THREAD_FUNNELED},
      {.name = "serialized", .level = MPI_THREAD_SERIALIZED},
      {.name = "multiple", .level = MPI_THREAD_MULTIPLE},
  };
  return table;
}

int level_of(const std::string& name) { return std::ranges::find(levels(), name, &NamedLevel::name)->level; }

std::string name_of(int level) { return std::ranges::find(levels(), level, &NamedLevel::level)->name; }

}  // namespace

const std::vector<std::string>& thread_level_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    std::transform(levels().begin(), levels().end(), std::back_inserter(all), [](const auto& x) { return x.name; });
    return all;
  }();
  return names;
}

std::string higher_thread_level(const std::string& a, const std::string& b) {
  return level_of(a) < level_of(b) ? b : a;
}

void abort_all(const std::string& sentence) {
  fmt::print(stderr, "{}\n", sentence);
  std::fflush(stderr);
  MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  std::_Exit(EXIT_FAILURE);
}

void require(int result, std::source_location where) {
  if (result == MPI_SUCCESS) {
    return;
  }
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  int rank = 0;
  MPI_Error_string(result, text.data(), &length);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::string_view path(where.file_name());
  abort_all(fmt::format("{}:{}: a call of MPI failed on rank {}: {}", path.substr(path.rfind('/') + 1), where.line(),
                        rank, text.data()));
}

double timed_barrier() {
  const auto begin = Clock::now();
  require(MPI_Barrier(MPI_COMM_WORLD));
  return seconds_since(begin);
}

NodePlace place_on_node() {
  MPI_Comm node = MPI_COMM_NULL;
  require(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
  NodePlace place;
  require(MPI_Comm_rank(node, &place.rank));
  require(MPI_Comm_size(node, &place.ranks));
  require(MPI_Comm_free(&node));
  return place;
}

MpiProcess::MpiProcess(const std::string& asked) : asked_(asked) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(nullptr, nullptr, level_of(asked), &provided);  // its own message and end if it fails
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
}

MpiProcess::~MpiProcess() { MPI_Finalize(); }

Json MpiProcess::thread_level() const {
  int provided = MPI_THREAD_SINGLE;
  MPI_Query_thread(&provided);  // what an application sees, with or without an engine
  return {{"asked", asked_}, {"provided", name_of(provided)}};
}

std::string MpiProcess::library() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  require(MPI_Get_library_version(text.data(), &length));
  const std::string version(text.data());
  return version.substr(0, version.find_first_of("\r\n"));
}

// Not static: the object stands for MPI being initialised.
int MpiProcess::maximum(int value) const {  // NOLINT(readability-convert-member-functions-to-static)
  int largest = value;
  require(MPI_Allreduce(&value, &largest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
  return largest;
}

std::string MpiProcess::broadcast(const std::string& text) const {
  auto length = static_cast<int>(text.size());
  require(MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD));
  std::string copy = is_root() ? text : std::string(static_cast<std::size_t>(length), '\0');
  require(MPI_Bcast(copy.data(), length, MPI_CHAR, 0, MPI_COMM_WORLD));
  return copy;
}

std::vector<std::string> MpiProcess::gather(const std::string& text) const {
  const auto length = static_cast<int>(text.size());
  const auto ranks = static_cast<std::size_t>(is_root() ? size_ : 0);
  std::vector<int> lengths(ranks);
  require(MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, MPI_COMM_WORLD));
  std::vector<int> starts(ranks);
  std::exclusive_scan(lengths.begin(), lengths.end(), starts.begin(), 0);
  std::string all(ranks == 0 ? 0 : static_cast<std::size_t>(starts.back() + lengths.back()), '\0');
  require(MPI_Gatherv(text.data(), length, MPI_CHAR, all.data(), lengths.data(), starts.data(), MPI_CHAR, 0,
                      MPI_COMM_WORLD));
  std::vector<std::string> texts;
  texts.reserve(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    texts.push_back(all.substr(static_cast<std::size_t>(starts[rank]), static_cast<std::size_t>(lengths[rank])));
  }
  return texts;
}

namespace {

double limit_of_address_space() {
  rlimit limit{};
  const bool limited = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return limited ? static_cast<double>(limit.rlim_cur) : std::numeric_limits<double>::infinity();
}

}  // namespace

void require_memory(const std::string& what, double bytes_a_rank) {
  constexpr double gigabyte = 1e9;
  std::ifstream file("/proc/meminfo");
  double there = std::min(parse_available_bytes(file) / place_on_node().ranks, limit_of_address_space());
  require(MPI_Allreduce(MPI_IN_PLACE, &there, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD));
  if (bytes_a_rank > there) {
    throw UsageError(
        fmt::format("{} takes {:.1f} GB of memory a rank, and {:.1f} GB are there for each: start more "
                    "ranks on more nodes or take a smaller problem",
                    what, bytes_a_rank / gigabyte, there / gigabyte));
  }
}

}  // namespace workloads
