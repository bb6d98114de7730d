// SPDX-License-Identifier: BSD-3-Clause
// What a benchmark gives to the driver: a descriptor, and from it an experiment for each point.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/json.h"
#include "common/mpi_process.h"
#include "common/noncopyable.h"
#include "common/parameters.h"
#include "common/quantities.h"

namespace workloads {

/// What a repetition measures many times: all values since the warm-up, in their order. Recorded beside the quantities,
/// as they are or, where they are too many to keep, as a histogram.
struct Distribution {
  std::string_view name;
  std::vector<double> values;
};

/// One point on one rank, ready to be repeated. Made, repeated and destroyed by all ranks together.
class Experiment : NonCopyable {
 public:
  virtual ~Experiment() = default;

  /// What this rank does: sender, receiver, ...
  [[nodiscard]] virtual std::string role() const = 0;

  /// Names of what a repetition measures, of the benchmark's table. The first one decides: repetition ends when rank
  /// 0's median of it is known.
  [[nodiscard]] virtual Names quantities() const = 0;

  /// One repetition: fills `values`, one a quantity. Returns what was wrong with the result (a payload that differs),
  /// which may be seen by some ranks only; empty if nothing.
  virtual std::string repeat(std::span<double> values) = 0;

  /// What repeat() has appended to; the sampler empties them when the warm-up ends. None unless overridden.
  [[nodiscard]] virtual std::span<Distribution> distributions() { return {}; }
};

struct Preparation {
  const MpiProcess& mpi;
  const Json& point;      ///< checked against the parameters
  double slowdown = 1.0;  ///< factor on all computation, for testing that a regression is seen
  double settle_s = 0;    ///< pause before each timed transfer, see LaunchOptions
};

/// A benchmark's `prepare`.
template <class Made>
std::unique_ptr<Experiment> make_experiment(const Preparation& preparation) {
  return std::make_unique<Made>(preparation);
}

struct Benchmark {
  std::string name;
  std::string question;  ///< what it answers, a sentence
  Parameters parameters;
  Quantities quantities;  ///< one of them leads
  /// Throws UsageError where this number of ranks cannot run this point (which obeys the parameters).
  void (*check)(const Json& point, int ranks) = [](const Json& /*point*/, int /*ranks*/) {};
  std::unique_ptr<Experiment> (*prepare)(const Preparation& preparation);
  /// The least that MPI_Init_thread must be asked for; --thread-level can only raise it.
  std::string thread_level = "single";
  /// What --calibrate measures: points {"calibration": "unit"} give unit_s, {"calibration": "comm", "size_bytes": N}
  /// give comm_s and ack_s. Null where a point's computation is not counted in units of work.
  const Benchmark* calibration = nullptr;
};

// The main of every workload: PROGRAM BENCHMARK --points FILE ..., over a table of benchmarks.

inline constexpr double largest_slowdown = 1000;
inline constexpr double longest_pause = 10;  // seconds

struct Program {
  std::string name;     ///< of the executable, as its messages begin
  std::string purpose;  ///< a sentence for --help
  std::string example;  ///< a command line for --help
  std::vector<const Benchmark*> benchmarks;
};

inline constexpr std::int64_t largest_message = 2'147'483'647;  // MPI-3's count is an int

/// Parses, lists or measures, and returns the exit status: 0 all ok, 1 something failed or was interrupted, 2 wrong
/// use. Initialises and finalises MPI, unless what is asked for (help, a list) needs none.
int run_program(const Program& program, int argc, char** argv);

}  // namespace workloads
