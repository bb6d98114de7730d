// SPDX-License-Identifier: BSD-3-Clause
// The thread whose computation is disturbed: the sequential Himeno benchmark on a CPU of its own choice.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

#include "himeno/kernel.h"

namespace workloads {

/// Sleeps until started. Used from one thread.
class Victim {
 public:
  /// `grid`: a published size of Himeno. std::bad_alloc, std::system_error.
  Victim(const std::string& grid, int cpu);
  ~Victim();
  Victim(const Victim&) = delete;
  Victim& operator=(const Victim&) = delete;
  Victim(Victim&&) = delete;
  Victim& operator=(Victim&&) = delete;

  /// Returns at once; the victim begins with the published start.
  void start();
  /// Returns when its iteration is complete. MFLOPS since it began, as the benchmark counts them.
  double stop();
  /// What is wrong with its results so far, a sentence; empty if nothing.
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

 private:
  enum class Order : std::uint8_t { sleep, compute, end };

  void give(Order order);
  void live(int cpu);
  double compute();
  void verify(double first, double last);

  Triple grid_;
  himeno::Kernel kernel_;
  double exact_gosa_;
  double mflops_ = 0;
  std::string problem_;
  std::atomic<Order> order_ = Order::sleep;
  std::atomic<bool> busy_ = false;
  std::thread thread_;
};

}  // namespace workloads
