// SPDX-License-Identifier: BSD-3-Clause
// A simulated launch: all ranks of one program, on one network, under one variant.
#pragma once

#include <coroutine>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/json.h"
#include "common/quantities.h"
#include "rank.h"

namespace simulated {

// What a simulated rank runs: a coroutine, so that a program reads like one although thousands of them take turns.

// co_await calls them on an object: were they static, each call would be found fault with.
// NOLINTBEGIN(readability-convert-member-functions-to-static)

/// Begins when it is awaited or started; ends with its frame.
class Task {
 public:
  struct promise_type {  // NOLINT(readability-identifier-naming): the standard's name
    std::coroutine_handle<> awaiting = std::noop_coroutine();
    std::exception_ptr error;

    Task get_return_object() { return Task(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    auto final_suspend() noexcept {
      struct Back {
        bool await_ready() noexcept { return false; }
        std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> ended) noexcept {
          return ended.promise().awaiting;
        }
        void await_resume() noexcept {}
      };
      return Back{};
    }
    void return_void() {}
    void unhandled_exception() { error = std::current_exception(); }
  };

  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (handle_) {
      handle_.destroy();
    }
  }

  /// Of a rank's whole program: the first step; others follow as what it awaits happens.
  void start() { handle_.resume(); }
  [[nodiscard]] bool ended() const { return handle_.done(); }
  /// What it ended with, if that was an error.
  void rethrow() const {
    if (handle_.promise().error) {
      std::rethrow_exception(handle_.promise().error);
    }
  }

  auto operator co_await() noexcept {
    struct Awaiting {
      std::coroutine_handle<promise_type> handle;
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) noexcept {
        handle.promise().awaiting = caller;
        return handle;
      }
      void await_resume() {
        if (handle.promise().error) {
          std::rethrow_exception(handle.promise().error);
        }
      }
    };
    return Awaiting{handle_};
  }

 private:
  std::coroutine_handle<promise_type> handle_;
};

// NOLINTEND(readability-convert-member-functions-to-static)

using workloads::Json;
using workloads::Quantities;

/// What one rank measured at a point: a value a quantity, and its part.
struct Measured {
  std::string role;
  std::vector<std::pair<std::string_view, double>> values;
};

/// One point of a benchmark as every rank runs it.
struct Pattern {
  std::string_view name;              ///< as the workload calls it: overlap
  const Quantities& (*quantities)();  ///< that its points record
  /// UsageError where the point cannot be run by so many ranks.
  void (*check)(const Json& point, int ranks);
  Task (*run)(Rank& rank, Fence& fence, const Json& point, Measured& measured);
  /// Why a point that the workload could run has no model; empty if it has one. Null: all have.
  std::string (*why_not)(const Json& point) = nullptr;
};

/// The benchmark of this program, null where it has no model.
const Pattern* pattern_of(const std::string& program, const std::string& benchmark);

/// What stands in a file of patterns; in pattern_of's table.
extern const Pattern overlap;
extern const Pattern collective_overlap;
extern const Pattern calibration;
extern const Pattern halo_exchange;
extern const Pattern fourier_transform;
extern const Pattern conjugate_gradients;

/// Ranks that are made anew for each launch; a point begins when the one before has ended on all of them.
class Run {
 public:
  /// UsageError where the platform has too few hosts.
  Run(Network& network, const Model& model, const Variant& variant, int ranks);
  /// What every rank measured at each point, in the order of the ranks.
  std::vector<std::vector<Measured>> points(const std::vector<std::pair<const Pattern*, Json>>& points);
  [[nodiscard]] const std::vector<std::unique_ptr<Rank>>& ranks() const { return ranks_; }
  /// Repetitions of each point that are not kept: one where an engine polls, which learns in it.
  [[nodiscard]] int warmup() const { return warmup_; }

 private:
  Network& network_;
  std::vector<std::unique_ptr<Rank>> ranks_;
  int warmup_;
};

/// co_await: everybody's dissemination barrier, which is a real one with its messages.
Task real_barrier(Rank& rank);

// The command that a launcher would start on every rank, read instead of run: which workload, with which points, under
// which variant.

struct Launched {
  std::string program;                 ///< microbench
  std::string benchmark;               ///< overlap
  std::vector<std::string> arguments;  ///< of the workload, for its record
  Variant variant;
  bool calibrate = false;
  std::vector<Json> points;
  std::vector<std::int64_t> sizes;  ///< of messages, with --calibrate
  Json context = Json::object();
  std::string output;
  double slowdown = 1;
  double settle = 0;  ///< seconds of pause before each timed transfer
};

/// The file that an option names. UsageError if it cannot be read.
std::string text_of(const std::string& option, const std::string& path);

/// Reads `[progress-run --variant V [--set K=V]... --] WORKLOAD BENCHMARK [options]`. `own_thread`: the MPI's
/// own progress thread is on. UsageError where it is no workload's command.
Launched read_command(const std::vector<std::string>& all, bool own_thread);

}  // namespace simulated
