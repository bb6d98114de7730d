// SPDX-License-Identifier: BSD-3-Clause
// What the benchmarks share: the time in MPI calls; a communication alone, a computation alone, and both at once.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "common/noncopyable.h"
#include "common/parameters.h"
#include "model.h"
#include "pencil_fft/problem.h"
#include "run.h"
#include "schedules.h"

namespace simulated {

// The seconds that a simulated program is in its MPI calls, as common/kernel.h measures those of a real one.

/// What `call` returns; what it took is added to `spent`.
template <class Call>
auto timed(const Rank& rank, Seconds& spent, Call call) {
  const Seconds begin = rank.free_at();
  auto result = call();
  spent += rank.free_at() - begin;
  return result;
}

/// co_await: until `request` is complete, if there is one.
inline Task timed_wait(Rank& rank, RequestPtr request, Seconds& spent) {
  if (request) {
    const Seconds begin = rank.free_at();
    co_await rank.wait(std::move(request));
    spent += rank.now() - begin;
  }
}

// What the benchmarks of overlap share: a communication alone, a computation alone, and both at the same time.

struct Times {
  Seconds total = 0;
  Seconds inside = 0;
  Seconds wait = 0;
};

/// What a point may say of a message and of the computation beside it, and these `own` of its benchmark.
workloads::Parameters overlap_parameters(const workloads::Parameters& own);

/// A point's computation: `part` seconds of it, then a test of the requests, and so on; 0: none before its end.
struct Work {
  Seconds all = 0;
  Seconds part = 0;
  bool asleep = false;  ///< it sleeps instead
};
Work work_of(const Json& point, const Model& model);

/// co_await: computes, with the tests that are wished.
Task compute_overlapped(Rank& rank, Work work, std::vector<RequestPtr> requests);
/// co_await: until all of them are complete.
Task wait_all(Rank& rank, std::vector<RequestPtr> requests);

/// One rank's part of a communication, begun and awaited anew for each of its repetitions.
class Operation : workloads::NonCopyable {
 public:
  virtual ~Operation() = default;

  /// Starts what travels beside the computation.
  virtual void start() = 0;
  /// The computation, if there is one, is over, and the wait begins.
  virtual void before_the_wait() {}
  /// What has been started: the tests beside the computation, and the wait, are for these.
  [[nodiscard]] virtual std::vector<RequestPtr> requests() const = 0;
};

/// A communication as a whole, with this work in it, and what closes its time, by itself.
using Communicate = std::function<Task(Work work, Times& times)>;
using Close = std::function<Task(Seconds& closing)>;

/// co_await: a communication alone, the computation alone, both at the same time; recorded as every benchmark of
/// overlap does it. A point without work has nothing but the first. `work`: this rank's, which may be none where others
/// have some.
Task measure(Rank& rank, Fence& fence, const Json& point, Work work, const Communicate& communicate, const Close& close,
             Measured& measured);
/// The same of an operation which is over when it is over on all ranks.
Task measure(Rank& rank, Fence& fence, const Json& point, Operation& operation, Measured& measured);

// What a rank does in the stages of a field, in numbers: the steps are those of workloads/pencil_fft/problem.h, carried
// out by nobody but written down.

/// One thing after the other.
struct StageStep {
  enum class Kind : std::uint8_t { compute, start, finish };
  Kind kind;
  Seconds work = 0;          ///< compute
  std::size_t exchange = 0;  ///< start, finish: its place in Stages::exchanges
  bool back = false;         ///< start: from pencils along z to those along x
};

struct Stages {
  std::array<std::vector<StageStep>, workloads::pencil_fft::Route::stages> steps;
  std::vector<Exchanged> exchanges;  ///< on the way to pencils along z
};

/// Seconds a complex operation and a copied byte.
struct FftRates {
  Seconds operation;
  Seconds byte;
};

Stages stages_of(const workloads::pencil_fft::Route& route, int rank, FftRates rates);

// What a rank does in a solve of miniFE, in numbers: the steps are those of workloads/minife/method.h, carried out by
// nobody but written down.

/// One thing after the other. The calls are those of workloads/minife/method.h.
struct SolveStep {
  enum class Kind : std::uint8_t { compute, post_receives, send, start_sends, wait, sum, start_sums, finish_sums };
  Kind kind;
  Seconds work = 0;  ///< compute
  Bytes bytes = 0;   ///< sum, start_sums: of the vector that all add up
};
using SolveSteps = std::vector<SolveStep>;

struct Neighbour {
  int rank;
  Bytes out;
  Bytes in;
};

/// As workloads::minife::Method has them.
struct Solve {
  std::vector<Neighbour> neighbours;
  SolveSteps begin;
  SolveSteps to_the_test;
  SolveSteps behind_it;
  SolveSteps replacement;
};

/// `byte`: seconds that one of the matrix or a vector takes. The point must have been checked.
Solve solve_of(const Json& point, int rank, int ranks, Seconds byte);

}  // namespace simulated
