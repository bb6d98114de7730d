// SPDX-License-Identifier: BSD-3-Clause
// The seconds of a run, split into computation and communication.
#pragma once

#include "common/clock.h"

namespace workloads {

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

}  // namespace workloads
