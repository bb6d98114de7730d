// SPDX-License-Identifier: BSD-3-Clause
// Tasks of the studies with user-level threads: how they communicate, in which threads they run, what some of them do.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/experiment.h"
#include "common/fixed_work.h"
#include "microbench/pair.h"
#include "microbench/payload.h"
#include "ult/threading.h"

namespace workloads {

// Communication as a task does it: plain blocking calls, or test-and-yield where nobody suspends a user-level thread.

/// Used by any number of threads, each with tags of its own.
class Messenger {
 public:
  /// `yield` is called between two tests; null: the calls block (MPI_Send, MPI_Recv, MPI_Sendrecv).
  Messenger(int partner, std::function<void()> yield) : partner_(partner), yield_(std::move(yield)) {}

  void send(Payload& payload, int tag) const;
  void receive(Payload& payload, int tag) const;
  /// One message each way.
  void exchange(Payload& out, Payload& in, int tag) const;

 private:
  template <std::size_t count>
  void finish(std::array<MPI_Request, count> requests) const;

  int partner_;
  std::function<void()> yield_;
};

// A number of tasks as a point asks for them: which kind of thread, and how a task's communication waits.

class Tasks {
 public:
  /// The point has "threading" and "cores".
  Tasks(std::size_t count, const Json& point, const Parameters& parameters, int partner);

  /// Runs body(0) ... body(count - 1) in their threads; seconds.
  double run(const Body& body) const;
  /// The same always in user-level threads on `workers` kernel threads.
  double run_on_workers(const Body& body) const;

  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  [[nodiscard]] std::size_t workers() const noexcept { return workers_; }
  [[nodiscard]] bool in_phases() const noexcept { return threading_ == "phases"; }
  [[nodiscard]] const Messenger& messenger() const noexcept { return messenger_; }
  /// How a task waits: "blocking", "suspending", "test-and-yield".
  [[nodiscard]] std::string_view waits() const;

 private:
  std::size_t count_;
  std::size_t workers_;
  std::string threading_;
  bool suspending_;
  Messenger messenger_;
};

inline constexpr int first_task_tag = 300;  // and the numbers behind it, one a task

// What the tasks of overlap and waiting do: exchange, compute, exchange, compute, ... exchange, all of it checked.

class Exchanges {
 public:
  /// `count` tasks whose messages have `bytes`. std::bad_alloc if there is not enough memory.
  Exchanges(std::size_t count, std::size_t bytes);

  /// Of task `i`, once the messages of `batch` are wanted: different for every task, batch and direction.
  void fill(std::size_t i, std::uint64_t batch, bool from_sender);
  void exchange(std::size_t i, const Messenger& messenger);
  void compute(std::size_t i, std::uint64_t units);
  void check(std::size_t i, std::uint64_t batch, bool from_sender);

  /// The first thing that was wrong since the last call; empty if nothing.
  std::string problem();

 private:
  struct Task {
    Payload out;
    Payload in;
    std::unique_ptr<FixedWork> work;
    std::string problem;
  };
  [[nodiscard]] std::uint64_t seed_of(std::size_t i, std::uint64_t batch, bool from_sender) const;

  std::vector<Task> tasks_;
};

const Benchmark& concurrent_latency_benchmark();
const Benchmark& ult_overlap_benchmark();
const Benchmark& waiting_benchmark();

}  // namespace workloads
