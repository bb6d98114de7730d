// SPDX-License-Identifier: BSD-3-Clause
// What is run as a whole, counts its operations and verifies its result: the kernels of the applications.
#pragma once

#include <memory>
#include <string>

#include "common/clock.h"
#include "common/experiment.h"
#include "common/noncopyable.h"

namespace workloads {

// The seconds of a run, split into computation and communication.

/// What is not communicated is computed. Used from one thread.
class Phases {
 public:
  /// `slowdown`: factor on all computation.
  explicit Phases(double slowdown) : slowdown_(slowdown) {}

  template <class Call>
  void communicate(Call call) {
    end_of_computation();
    const auto begin = Clock::now();
    call();
    computing_since_ = Clock::now();
    comm_s_ += seconds_between(begin, computing_since_);
  }

  void end_of_computation() const {
    if (slowdown_ > 1) {
      spin_for(seconds_since(computing_since_) * (slowdown_ - 1));
    }
  }

  /// In communicate(), since this was made.
  [[nodiscard]] double comm_s() const noexcept { return comm_s_; }

 private:
  double slowdown_;
  Clock::time_point computing_since_ = Clock::now();
  double comm_s_ = 0;
};

// What is run as a whole, counts its operations and verifies its result: the kernels of the applications.

/// A kernel on this rank, run again and again. All functions that are not const are collective.
class Kernel : NonCopyable {
 public:
  virtual ~Kernel() = default;

  /// Everything as it is before the benchmark's clock starts.
  virtual void restart() = 0;
  /// What the benchmark times.
  virtual void run(Phases& phases) = 0;
  /// What is wrong with the result; empty if nothing. The same on all ranks or seen by some only.
  virtual std::string verify() = 0;
  /// As the benchmark counts them for its Mop/s, of all ranks.
  [[nodiscard]] virtual double operations() const = 0;
};

/// What a repetition of a kernel records.
const Quantities& kernel_quantities();

/// Each repetition runs `kernel` once from its start and verifies it.
std::unique_ptr<Experiment> experiment_of(const Preparation& preparation, std::unique_ptr<Kernel> kernel);

/// A benchmark's `prepare`.
template <class Made>
std::unique_ptr<Experiment> make_kernel(const Preparation& preparation) {
  return experiment_of(preparation, std::make_unique<Made>(preparation));
}

}  // namespace workloads
