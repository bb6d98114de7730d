// SPDX-License-Identifier: BSD-3-Clause
#include "microbench/team.h"

#include <latch>
#include <thread>

#include "microbench/benchmarks.h"

namespace workloads {

Parameter threads_parameter(const std::string& name, const std::string& meaning) {
  constexpr int most_threads = 4096;
  return {
      .name = name,
      .domain = IntegerRange{.minimum = 1, .maximum = most_threads},
      .unit = "threads",
      .meaning = meaning,
      .default_value = nullptr,
  };
}

std::vector<PingPong> make_ping_pongs(const Pair& pair, int count, std::size_t bytes) {
  std::vector<PingPong> ping_pongs;
  ping_pongs.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    ping_pongs.emplace_back(PingPongSettings{
        .partner = pair.partner(),
        .tag = ping_pong_tag + i,
        .bytes = bytes,
        .first = pair.is_sender(),
    });
  }
  return ping_pongs;
}

void run_together(std::size_t count, const std::function<void(std::size_t)>& body) {
  std::latch all_there(static_cast<std::ptrdiff_t>(count));
  std::vector<std::thread> threads;
  threads.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      all_there.arrive_and_wait();
      body(i);
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
}

}  // namespace workloads
