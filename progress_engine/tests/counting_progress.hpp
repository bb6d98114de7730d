// SPDX-License-Identifier: BSD-3-Clause
// An engine over a progress function that counts its polls.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string_view>

#include "core/engine.hpp"

namespace progress_engine {

class CountingProgress : public ProgressFunction {
 public:
  explicit CountingProgress(std::atomic<int>& polls) : polls_(polls) {}
  void poll() override {
    EXPECT_FALSE(busy_.exchange(true)) << "two threads in the progress function at once";
    ++polls_;
    busy_ = false;
  }

 private:
  std::atomic<int>& polls_;
  std::atomic<bool> busy_{false};
};

inline std::unique_ptr<Engine> make_engine(std::string_view preset, std::atomic<int>& polls,
                                           const Values& overrides = {}) {
  return std::make_unique<Engine>(make_policy(resolve_values(preset, overrides)),
                                  std::make_unique<CountingProgress>(polls), nullptr);
}

}  // namespace progress_engine
