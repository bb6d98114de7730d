// SPDX-License-Identifier: BSD-3-Clause
#include "machine.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/fence.hpp"
#include "core/scheduling.hpp"
#include "telemetry/thread_usage.hpp"
#include "wait/epoll.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace progress_engine {
namespace {

// User-mode waits: Intel's WAITPKG (CPUID 7.0, ECX bit 5), AMD's MONITORX (CPUID 8000_0001, ECX bit 29), Arm's WFE.
std::vector<std::string> wait_instructions() {
  std::vector<std::string> names;
#if defined(__x86_64__)
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  names.emplace_back("pause");
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) && (c & (1U << 5U))) names.insert(names.end(), {"umwait", "tpause"});
  if (__get_cpuid(0x80000001, &a, &b, &c, &d) && (c & (1U << 29U))) names.emplace_back("mwaitx");
#elif defined(__aarch64__)
  names = {"isb", "wfe"};
#endif
  return names;
}

}  // namespace

nlohmann::ordered_json describe_machine() {
  constexpr Nanoseconds asked = microseconds(100);
  nlohmann::ordered_json machine;
  utsname system{};
  uname(&system);
  prepare_fences();
  machine["kernel"] = system.release;
  machine["cpus"] = usage_of_thread(gettid()).cpus_allowed;
  machine["wait_instructions"] = wait_instructions();
  const auto slice = probe_slice(asked);
  machine["slice_ns"] = slice ? nlohmann::ordered_json(*slice) : nlohmann::ordered_json();
  machine["short_slice"] = slice == asked;
  machine["precise_epoll"] = has_precise_epoll();
  machine["membarrier"] = !light_fence_is_full;
  return machine;
}

}  // namespace progress_engine
