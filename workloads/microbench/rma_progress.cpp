// SPDX-License-Identifier: BSD-3-Clause
// How long does an operation on a window wait for a target that computes (study rma-progress)? Each origin of a pair
// works on the window of its target, one operation after the other, while the target computes and calls no MPI.
//
// Point: operation, synchronisation (flush), size_bytes (8), operations (100, a repetition), window (allocated), target
// (computes), work_units, work (register), compute (real). Samples, one a repetition: as `overlap`, comm_s being the
// operations while the target is inside MPI; on the origin worst_s, the longest of them while the target computes, and
// the distribution latency_s, which has each of them: from the call to its completion at the target, with its
// synchronisation, the first one with what opens the epoch; of synchronisation by epochs (pscw, fence) one value for
// the epoch.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/errors.h"
#include "common/fixed_work.h"
#include "common/machine.h"
#include "common/mpi_process.h"
#include "common/overlap_sample.h"
#include "microbench/benchmarks.h"
#include "microbench/computation.h"
#include "microbench/pair.h"
#include "microbench/payload.h"

namespace workloads::rma_progress {
namespace {

constexpr auto word_bytes = static_cast<int>(sizeof(std::uint64_t));

/// One operation of the origin: its own memory, and a place in the target's.
struct Access {
  void* own;       ///< what it sends, or where what it gets arrives
  void* got;       ///< what the target had before, of those that send and get
  void* expected;  ///< what the target has, of those that compare
  int bytes;
  int target;
  MPI_Aint place;
  MPI_Win window;
};

struct Operation {
  enum class Leaves : std::uint8_t { kept, replaced, added };
  const char* name;
  Leaves leaves;  ///< what becomes of the target's memory
  bool gets;      ///< brings what was there
  bool one_word;
  bool has_request;
  int (*start)(const Access& access, MPI_Request* request);
};

int start_get(const Access& a, MPI_Request* /*request*/) {
  return MPI_Get(a.got, a.bytes, MPI_BYTE, a.target, a.place, a.bytes, MPI_BYTE, a.window);
}

int start_put(const Access& a, MPI_Request* /*request*/) {
  return MPI_Put(a.own, a.bytes, MPI_BYTE, a.target, a.place, a.bytes, MPI_BYTE, a.window);
}

int start_accumulate(const Access& a, MPI_Request* /*request*/) {
  const int count = a.bytes / word_bytes;
  return MPI_Accumulate(a.own, count, MPI_UINT64_T, a.target, a.place, count, MPI_UINT64_T, MPI_SUM, a.window);
}

int start_fetch_and_op(const Access& a, MPI_Request* /*request*/) {
  return MPI_Fetch_and_op(a.own, a.got, MPI_UINT64_T, a.target, a.place, MPI_SUM, a.window);
}

int start_compare_and_swap(const Access& a, MPI_Request* /*request*/) {
  return MPI_Compare_and_swap(a.own, a.expected, a.got, MPI_UINT64_T, a.target, a.place, a.window);
}

int start_rget(const Access& a, MPI_Request* request) {
  return MPI_Rget(a.got, a.bytes, MPI_BYTE, a.target, a.place, a.bytes, MPI_BYTE, a.window, request);
}

int start_rput(const Access& a, MPI_Request* request) {
  return MPI_Rput(a.own, a.bytes, MPI_BYTE, a.target, a.place, a.bytes, MPI_BYTE, a.window, request);
}

using Leaves = Operation::Leaves;
constexpr std::array operations{
    Operation{"get", Leaves::kept, true, false, false, start_get},
    Operation{"put", Leaves::replaced, false, false, false, start_put},
    Operation{"accumulate", Leaves::added, false, false, false, start_accumulate},
    Operation{"fetch-and-op", Leaves::added, true, true, false, start_fetch_and_op},
    Operation{"compare-and-swap", Leaves::replaced, true, true, false, start_compare_and_swap},
    Operation{"rget", Leaves::kept, true, false, true, start_rget},
    Operation{"rput", Leaves::replaced, false, false, true, start_rput},
};

Choices operation_names() {
  Choices names;
  for (const Operation& one : operations) {
    names.emplace_back(one.name);
  }
  return names;
}

const Parameters& parameters() {
  constexpr std::int64_t most_operations = 100'000;
  static const Parameters table{
      choice_parameter("operation", operation_names(), "what the origin does to the target's window"),
      choice_parameter(
          "synchronisation", {"flush", "lock", "pscw", "fence"},
          "a flush of each operation within MPI_Win_lock_all, a lock and an unlock of each, or one epoch of "
          "all by MPI_Win_post, start, complete, wait or by fences",
          "flush"),
      size_parameter(word_bytes),
      integer_parameter("operations", {1, most_operations}, "operations", "a repetition, each in a place of its own",
                        100),
      choice_parameter("window", {"allocated", "created"},
                       "memory of the MPI's (MPI_Win_allocate) or the program's own (MPI_Win_create)", "allocated"),
      choice_parameter("target", {"computes", "in-mpi"},
                       "what it does meanwhile: computes, or waits inside MPI, which then can answer at once",
                       "computes"),
      work_units_parameter(nullptr),
      work_parameter(),
      compute_parameter(),
  };
  return table;
}

const Quantities& quantity_table() {
  static const Quantities more{seconds("worst_s"), seconds("latency_s")};
  static const Quantities table = joined(overlap_quantities(), more);
  return table;
}

const Operation& operation_of(const Json& point) {
  const auto name = choice_of(point, parameters(), "operation");
  return *std::ranges::find_if(operations, [&](const Operation& one) { return name == one.name; });
}

bool has_epoch(const std::string& synchronisation) { return synchronisation == "pscw" || synchronisation == "fence"; }

void check(const Json& point, int ranks) {
  check_pairs(point, ranks);
  const Operation& operation = operation_of(point);
  const auto size = size_of(point, parameters());
  if (operation.one_word && size != word_bytes) {
    throw UsageError(fmt::format("{} is of one number: size_bytes must be 8, not {}", operation.name, size));
  }
  if (operation.leaves == Leaves::added && size % word_bytes != 0) {
    throw UsageError(
        fmt::format("{} adds numbers of 8 bytes: size_bytes = {} is not a multiple of 8", operation.name, size));
  }
  if (operation.has_request && has_epoch(choice_of(point, parameters(), "synchronisation"))) {
    throw UsageError(
        fmt::format("MPI allows {} in passive epochs alone: synchronisation flush or lock", operation.name));
  }
  constexpr double buffers = 3;
  const auto count = integer_of(point, parameters(), "operations");
  require_memory(fmt::format("{} operations of {} bytes", count, size),
                 buffers * static_cast<double>(count) * static_cast<double>(size));
}

/// The target's memory, which has a place for each operation; its origin has a window without memory. Collective.
class Window : NonCopyable {
 public:
  Window(bool exposes, std::size_t bytes, bool allocated, int partner)
      : own_(exposes && !allocated ? bytes : 0), bytes_(exposes ? bytes : 0) {
    const auto size = static_cast<MPI_Aint>(bytes_);
    if (allocated) {
      require(MPI_Win_allocate(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, static_cast<void*>(&memory_), &window_));
    } else {
      memory_ = own_.bytes().data();
      require(MPI_Win_create(memory_, size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window_));
    }
    MPI_Group all{};
    require(MPI_Win_get_group(window_, &all));
    require(MPI_Group_incl(all, 1, &partner, &partner_));
    require(MPI_Group_free(&all));
  }
  ~Window() {
    MPI_Group_free(&partner_);
    MPI_Win_free(&window_);
  }

  [[nodiscard]] MPI_Win handle() const { return window_; }
  [[nodiscard]] MPI_Group partner() const { return partner_; }

  /// Calls action(memory) while nobody else may reach it. By the target, outside of all epochs.
  template <class Action>
  auto by_itself(int rank, Action action) {
    require(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window_));
    auto result = action(std::span<std::byte>(memory_, bytes_));
    require(MPI_Win_unlock(rank, window_));
    return result;
  }

 private:
  Payload own_;
  std::size_t bytes_;
  std::byte* memory_ = nullptr;
  MPI_Win window_ = MPI_WIN_NULL;
  MPI_Group partner_ = MPI_GROUP_NULL;
};

class RmaProgress final : public Experiment {
 public:
  explicit RmaProgress(const Preparation& preparation)
      : pair_(preparation.mpi),
        rank_(preparation.mpi.rank()),
        operation_(operation_of(preparation.point)),
        synchronisation_(choice_of(preparation.point, parameters(), "synchronisation")),
        bytes_(size_of(preparation.point, parameters())),
        count_(static_cast<std::size_t>(integer_of(preparation.point, parameters(), "operations"))),
        computation_(preparation, parameters()),
        settle_s_(preparation.settle_s),
        window_(!is_origin(), bytes_ * count_, choice_of(preparation.point, parameters(), "window") == "allocated",
                pair_.partner()),
        own_(is_origin() ? bytes_ * count_ : 0),
        got_(is_origin() ? bytes_ * count_ : 0),
        expected_(count_) {
    if (is_origin() || choice_of(preparation.point, parameters(), "target") == "in-mpi") {
      computation_.skip();
    }
  }

  [[nodiscard]] std::string role() const override { return is_origin() ? "origin" : "target"; }

  [[nodiscard]] Names quantities() const override {
    return names_of(quantity_table(), overlap_quantities_count + (is_origin() ? 1 : 0));
  }

  std::string repeat(std::span<double> values) override {
    const OverlapRun alone = run(false);
    timed_barrier();
    const double comp_s = computation_.alone();
    const OverlapRun beside = run(true);
    if (is_origin()) {
      values[overlap_quantities_count] = std::ranges::max(taken_s_);
      auto& latencies = latencies_.front().values;
      latencies.insert(latencies.end(), taken_s_.begin(), taken_s_.end());
    }
    timed_barrier();
    return write_overlap(alone, comp_s, beside, timed_barrier(), values);
  }

  [[nodiscard]] std::span<Distribution> distributions() override {
    return is_origin() ? std::span<Distribution>(latencies_) : std::span<Distribution>();
  }

 private:
  [[nodiscard]] bool is_origin() const { return pair_.is_sender(); }

  // Another pattern for each place in each repetition: what the target has at first, and what the origin sends.
  [[nodiscard]] std::uint64_t there(std::size_t place) const { return 2 * ((round_ * count_) + place); }
  [[nodiscard]] std::uint64_t sent(std::size_t place) const { return there(place) + 1; }

  [[nodiscard]] std::span<std::byte> at(std::span<std::byte> all, std::size_t place) const {
    return all.subspan(place * bytes_, bytes_);
  }

  void fill() {
    ++round_;
    std::ranges::fill(got_.bytes(), std::byte{0});
    for (std::size_t place = 0; place < (is_origin() ? count_ : 0); ++place) {
      fill_pattern(at(own_.bytes(), place), sent(place));
    }
    if (!is_origin()) {
      window_.by_itself(rank_, [this](std::span<std::byte> memory) {
        for (std::size_t place = 0; place < count_; ++place) {
          fill_pattern(at(memory, place), there(place));
        }
        return 0;
      });
    }
  }

  OverlapRun run(bool computing) {
    fill();
    spin_for(settle_s_);
    timed_barrier();
    OverlapRun times;
    const Usage before = read_usage();
    const auto begin = Clock::now();
    open();
    const auto opened = Clock::now();
    if (is_origin()) {
      operate(begin);
    } else if (computing) {
      MPI_Request none = MPI_REQUEST_NULL;
      times.inside = computation_.beside(none);
    }
    const auto closing = is_origin() ? opened : Clock::now();
    close();
    times.wait_s = seconds_since(closing);
    timed_barrier();
    times.total_s = seconds_since(begin);
    times.usage = read_usage() - before;
    times.post_s = seconds_between(begin, opened);
    times.problem = verify();
    return times;
  }

  /// What both sides do before the operations.
  void open() {
    if (synchronisation_ == "fence") {
      require(MPI_Win_fence(MPI_MODE_NOPRECEDE, window_.handle()));
    } else if (synchronisation_ == "pscw" && !is_origin()) {
      require(MPI_Win_post(window_.partner(), 0, window_.handle()));
    } else if (synchronisation_ == "flush" && is_origin()) {
      require(MPI_Win_lock_all(0, window_.handle()));
    }
  }

  /// What both sides do after them, but for the origin's end of an epoch, which is a part of operate().
  void close() {
    if (synchronisation_ == "fence" && !is_origin()) {
      require(MPI_Win_fence(MPI_MODE_NOSUCCEED, window_.handle()));
    } else if (synchronisation_ == "pscw" && !is_origin()) {
      require(MPI_Win_wait(window_.handle()));
    } else if (synchronisation_ == "flush" && is_origin()) {
      require(MPI_Win_unlock_all(window_.handle()));
    }
  }

  /// `began`: when the epoch was opened, for which an MPI may wait for the target: the first operation waits for it.
  void operate(Clock::time_point began) {
    taken_s_.clear();
    if (!has_epoch(synchronisation_)) {
      for (std::size_t place = 0; place < count_; ++place) {
        const auto begin = place == 0 ? began : Clock::now();
        complete_one(place);
        taken_s_.push_back(seconds_since(begin));
      }
      return;
    }
    if (synchronisation_ == "pscw") {
      require(MPI_Win_start(window_.partner(), 0, window_.handle()));
    }
    for (std::size_t place = 0; place < count_; ++place) {
      start(place);
    }
    if (synchronisation_ == "pscw") {
      require(MPI_Win_complete(window_.handle()));
    } else {
      require(MPI_Win_fence(MPI_MODE_NOSUCCEED, window_.handle()));
    }
    taken_s_.push_back(seconds_since(began));
  }

  MPI_Request start(std::size_t place) {
    expected_[place] = pattern_word(there(place), 0);
    MPI_Request request = MPI_REQUEST_NULL;
    require(operation_.start({.own = at(own_.bytes(), place).data(),
                              .got = at(got_.bytes(), place).data(),
                              .expected = &expected_[place],
                              .bytes = static_cast<int>(bytes_),
                              .target = pair_.partner(),
                              .place = static_cast<MPI_Aint>(place * bytes_),
                              .window = window_.handle()},
                             &request));
    return request;
  }

  void complete_one(std::size_t place) {
    if (synchronisation_ == "lock") {
      require(MPI_Win_lock(MPI_LOCK_SHARED, pair_.partner(), 0, window_.handle()));
    }
    MPI_Request request = start(place);
    if (operation_.has_request) {
      // NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker): it was started by start(), out of the checker's sight
      require(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    if (synchronisation_ == "lock") {
      require(MPI_Win_unlock(pair_.partner(), window_.handle()));
    } else if (!(operation_.has_request && operation_.gets)) {  // else what it brought is all that there is
      require(MPI_Win_flush(pair_.partner(), window_.handle()));
    }
  }

  [[nodiscard]] std::string verify() {
    std::string problem;
    for (std::size_t place = 0; is_origin() && operation_.gets && place < count_ && problem.empty(); ++place) {
      problem = check_pattern(at(got_.bytes(), place), there(place));
    }
    if (!is_origin()) {
      problem = window_.by_itself(rank_, [this](std::span<std::byte> memory) { return check_window(memory); });
    }
    return problem.empty() ? problem : fmt::format("{}, {}: {}", operation_.name, role(), problem);
  }

  [[nodiscard]] std::string check_window(std::span<std::byte> memory) const {
    for (std::size_t place = 0; place < count_; ++place) {
      const std::array<std::uint64_t, 2> both{there(place), sent(place)};
      const auto here = at(memory, place);
      auto problem = operation_.leaves == Leaves::added
                         ? check_sum(here, both)
                         : check_pattern(here, both.at(operation_.leaves == Leaves::replaced ? 1 : 0));
      if (!problem.empty()) {
        return problem;
      }
    }
    return {};
  }

  Pair pair_;
  int rank_;
  const Operation& operation_;
  std::string synchronisation_;
  std::size_t bytes_;
  std::size_t count_;
  Computation computation_;
  double settle_s_;
  Window window_;
  Payload own_;
  Payload got_;
  std::vector<std::uint64_t> expected_;
  std::vector<double> taken_s_;  ///< by each operation of the last run, or by its epoch
  std::uint64_t round_ = 0;
  std::array<Distribution, 1> latencies_{Distribution{.name = "latency_s", .values = {}}};
};

}  // namespace
}  // namespace workloads::rma_progress

const workloads::Benchmark& workloads::rma_progress_benchmark() {
  static const Benchmark benchmark{
      .name = "rma-progress",
      .question = "How long does an operation on a window wait for a target that computes?",
      .parameters = rma_progress::parameters(),
      .quantities = rma_progress::quantity_table(),
      .check = rma_progress::check,
      .prepare = make_experiment<rma_progress::RmaProgress>,
      .calibration = &calibration_benchmark(),
  };
  return benchmark;
}
