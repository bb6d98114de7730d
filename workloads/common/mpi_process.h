// SPDX-License-Identifier: BSD-3-Clause
// This process as a rank of MPI_COMM_WORLD.
#pragma once

#include <source_location>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/json.h"
#include "common/noncopyable.h"

namespace workloads {

/// single, funneled, serialized, multiple: MPI's four levels, by the names of the record schema.
const std::vector<std::string>& thread_level_names();

/// The one that permits more; both are of thread_level_names().
std::string higher_thread_level(const std::string& a, const std::string& b);

/// Initialises MPI and finalises it. One a process, used from the thread that made it. All functions but those that
/// only read are collective.
class MpiProcess : NonCopyable {
 public:
  /// `asked` is one of thread_level_names().
  explicit MpiProcess(const std::string& asked);
  ~MpiProcess();

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }
  [[nodiscard]] bool is_root() const noexcept { return rank_ == 0; }

  /// {"asked": ..., "provided": ...} as in the record schema.
  [[nodiscard]] Json thread_level() const;
  /// First line of MPI_Get_library_version.
  [[nodiscard]] static std::string library();

  /// The largest of all ranks' values, on all ranks.
  [[nodiscard]] int maximum(int value) const;
  /// Rank 0's text, on all ranks.
  [[nodiscard]] std::string broadcast(const std::string& text) const;
  /// All ranks' texts in their order, on rank 0; nothing elsewhere.
  [[nodiscard]] std::vector<std::string> gather(const std::string& text) const;

  /// Runs `action` on rank 0 and throws its Error, if it had one, on all ranks.
  template <class Error, class Action>
  void on_root(Action action) const {
    std::string problem;
    try {
      if (is_root()) {
        action();
      }
    } catch (const Error& error) {
      problem = error.what();
    }
    if (const auto agreed = broadcast(problem); !agreed.empty()) {
      throw Error(agreed);
    }
  }

 private:
  std::string asked_;
  int rank_ = 0;
  int size_ = 1;
};

/// Every MPI call's result goes through here: an error ends the whole job with a sentence that says where it was made.
void require(int result, std::source_location where = std::source_location::current());

/// A barrier of all ranks; the seconds that it took.
double timed_barrier();

/// This rank's place among those of its node, and how many they are. Collective.
struct NodePlace {
  int rank = 0;
  int ranks = 1;
};
NodePlace place_on_node();

/// Prints the sentence and ends all ranks with status 1, whatever they are doing.
[[noreturn]] void abort_all(const std::string& sentence);

// Whether there is memory for what is asked, before any of it is touched: Linux grants more than it has.

/// UsageError, which begins with `what` ("class D"), unless every rank can have `bytes_a_rank`: of its node's memory,
/// shared with the other ranks there, and within its limit of address space. Collective.
void require_memory(const std::string& what, double bytes_a_rank);

// How long one unit of a fixed amount of work takes: what amounts of work are chosen from.

/// Seconds of this thread's CPU that one unit of `work` takes while all ranks compute, as they do in what is
/// calibrated. CPU time: who shares the core for the moment of the calibration would otherwise halve all the work of a
/// session. Collective.
template <typename Work>
double unit_of(Work& work) {
  constexpr int units = 10'000;  // some ten milliseconds, as long as the computations that are made of it
  timed_barrier();
  const double begin = thread_cpu_s();
  work.run(units);
  return (thread_cpu_s() - begin) / units;
}

}  // namespace workloads
