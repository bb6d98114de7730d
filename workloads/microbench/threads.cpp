// SPDX-License-Identifier: BSD-3-Clause
#include "microbench/threads.h"

#include <chrono>
#include <latch>
#include <numeric>
#include <thread>

#include "microbench/benchmarks.h"

namespace workloads {

ComputingThreads::ComputingThreads(int count, WorkKind kind) : members_(static_cast<std::size_t>(count)) {
  for (auto& member : members_) {
    member.work = make_fixed_work(kind);
  }
  try {
    for (auto& member : members_) {
      member.thread = std::thread([this, &member] { live(member); });
    }
  } catch (...) {
    give(Order::end);
    throw;
  }
}

ComputingThreads::~ComputingThreads() { give(Order::end); }

void ComputingThreads::start() {
  give(Order::compute);
  await_computing(static_cast<int>(members_.size()));
  units_at_start_ = units();
  started_ = Clock::now();
}

double ComputingThreads::stop() {
  const double rate = static_cast<double>(units() - units_at_start_) / seconds_since(started_);
  give(Order::sleep);
  await_computing(0);
  return rate;
}

void ComputingThreads::give(Order order) {
  order_.store(order);
  order_.notify_all();
  if (order != Order::end) {
    return;
  }
  for (auto& member : members_) {
    if (member.thread.joinable()) {
      member.thread.join();
    }
  }
}

void ComputingThreads::live(Member& member) {
  constexpr std::uint64_t units_between_looks = 10;  // some 10 us
  for (auto order = order_.load(); order != Order::end; order = order_.load()) {
    if (order == Order::sleep) {
      order_.wait(Order::sleep);
      continue;
    }
    ++computing_;
    while (order_.load(std::memory_order_relaxed) == Order::compute) {
      member.work->run(units_between_looks);
      member.units.fetch_add(units_between_looks, std::memory_order_relaxed);
    }
    --computing_;
  }
}

void ComputingThreads::await_computing(int count) const {
  constexpr auto step = std::chrono::microseconds(50);
  while (computing_.load() != count) {
    std::this_thread::sleep_for(step);
  }
}

std::uint64_t ComputingThreads::units() const {
  return std::accumulate(members_.begin(), members_.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const Member& member) { return sum + member.units.load(); });
}

Parameter threads_parameter(const std::string& name, const std::string& meaning) {
  constexpr int most_threads = 4096;
  return integer_parameter(name, {1, most_threads}, "threads", meaning);
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
