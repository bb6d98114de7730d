// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

namespace fake_ucp {

constexpr std::uint64_t wakeup = 1U << 4;

struct State {
  bool has_wakeup = true;
  int descriptor = -1;
  int events = 0;
  std::int8_t arm_says = 0;
  // The transports that it would choose between nodes, as it prints them.
  const char* lanes_without = "#  lane[0]:  0:tcp/eth0.0 md[0]  -> md[0]/tcp/sysdev[255] rma_bw#0 am wireup\n";
  const char* lanes_with = lanes_without;
  // What was asked of it.
  std::array<std::uint64_t, 10> given{};  // parameters, 0 where they were not
  int inits = 0;
  int polls = 0;
  int arms = 0;
  std::string prefix;  // of the last configuration
  std::map<std::string, std::string> config;
  int held = 0;   // configurations, contexts, workers, addresses and endpoints that are not gone yet
  char with = 0;  // their addresses are the contexts and workers
  char without = 0;
};
State& state();

}  // namespace fake_ucp
