// SPDX-License-Identifier: BSD-3-Clause
// A progress function whose messages take several polls.
#pragma once

#include <atomic>

#include "core/engine.hpp"

namespace progress_engine {

// A message over a fabric that moves data by itself: each of its steps is ready some time after the one before, and is
// taken by a poll that takes no longer than one that finds nothing.
class Handshakes : public ProgressFunction {
 public:
  explicit Handshakes(std::atomic<int>& missing) : missing_(missing) {}
  void poll() override {
    if (missing_ == 0 || now() - last_ < microseconds(200)) return;
    last_ = now();
    --missing_;
  }

 private:
  std::atomic<int>& missing_;
  Nanoseconds last_ = 0;
};

}  // namespace progress_engine
