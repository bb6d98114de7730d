// SPDX-License-Identifier: BSD-3-Clause
#include "common/placement.h"

#include <sched.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <memory>

namespace workloads {

std::vector<int> allowed_cpus() {
  constexpr int most_cpus = 16384;  // a plain cpu_set_t ends at 1024, and the call fails on larger machines
  const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(most_cpus), [](cpu_set_t* s) { CPU_FREE(s); });
  const std::size_t bytes = CPU_ALLOC_SIZE(most_cpus);
  CPU_ZERO_S(bytes, set.get());
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

int current_cpu() noexcept { return sched_getcpu(); }

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

}  // namespace workloads
