// SPDX-License-Identifier: BSD-3-Clause
#include "common/placement.h"

#include <sched.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <memory>

namespace workloads {
namespace {

constexpr int most_cpus = 16384;  // a plain cpu_set_t ends at 1024, and the calls fail on larger machines
const std::size_t bytes = CPU_ALLOC_SIZE(most_cpus);

std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> empty_set() {
  std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(most_cpus), [](cpu_set_t* s) { CPU_FREE(s); });
  CPU_ZERO_S(bytes, set.get());
  return set;
}

}  // namespace

std::vector<int> allowed_cpus() {
  const auto set = empty_set();
  std::vector<int> cpus;
  if (sched_getaffinity(0, bytes, set.get()) != 0) {
    return cpus;
  }
  for (int cpu = 0; cpu < most_cpus; ++cpu) {
    if (CPU_ISSET_S(cpu, bytes, set.get())) {
      cpus.push_back(cpu);
    }
  }
  return cpus;
}

bool bind_this_thread(const std::vector<int>& cpus) noexcept {
  const auto set = empty_set();
  for (const int cpu : cpus) {
    CPU_SET_S(static_cast<std::size_t>(cpu), bytes, set.get());
  }
  return sched_setaffinity(0, bytes, set.get()) == 0;
}

int current_cpu() noexcept { return sched_getcpu(); }

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

}  // namespace workloads
