// SPDX-License-Identifier: BSD-3-Clause
// What the tests of every model ask of it: that no interleaving fails, or that a fault put in is found.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "model/machine.hpp"

namespace progress_engine::model {

using Body = std::function<void()>;

inline std::string trace_of(const Verdict& verdict) {
  std::string text = verdict.failure;
  for (const auto& step : verdict.trace) text += "\n  " + step;
  return text;
}

template <typename Made>
Verdict explore(Fault fault = Fault::none) {
  return Machine(fault).explore([] { return std::make_unique<Made>(); });
}

template <typename Made>
void expect_sound(std::uint64_t at_least) {
  const Verdict verdict = explore<Made>();
  EXPECT_EQ(verdict.failure, "") << trace_of(verdict);
  EXPECT_GE(verdict.interleavings, at_least);
  testing::Test::RecordProperty("interleavings", std::to_string(verdict.interleavings));
}

template <typename Made>
void expect_found(Fault fault, const std::string& says) {
  const Verdict verdict = explore<Made>(fault);
  EXPECT_NE(verdict.failure.find(says), std::string::npos) << "found: " << verdict.failure;
  EXPECT_FALSE(verdict.trace.empty());
}

}  // namespace progress_engine::model
