// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

namespace fake_ucp {

constexpr std::uint64_t wakeup = 1U << 4;

struct State {
  bool has_wakeup = true;
  int descriptor = -1;
  int events = 0;
  std::int8_t arm_says = 0;
  // What was asked of it.
  std::array<std::uint64_t, 10> given{};  // parameters, 0 where they were not
  int inits = 0;
  int polls = 0;
  int arms = 0;
  char with = 0;  // their addresses are the contexts and workers
  char without = 0;
};
State& state();

}  // namespace fake_ucp
