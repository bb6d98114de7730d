// SPDX-License-Identifier: BSD-3-Clause
// The thread whose computation is disturbed: the sequential Himeno benchmark on a CPU of its own choice.
#pragma once

#include <atomic>
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
  void wake();
  void live(int cpu);
  double compute();
  void verify(double first, double last);

  Triple grid_;
  himeno::Kernel kernel_;
  double exact_gosa_;
  double mflops_ = 0;
  std::string problem_;
  // Counted, and not a state: the victim may sleep through a whole start and stop, and must compute for it
  // nevertheless.
  std::atomic<unsigned> started_ = 0;
  std::atomic<unsigned> ended_ = 0;
  std::atomic<bool> computing_ = false;
  std::atomic<bool> leaving_ = false;
  std::thread thread_;
};

}  // namespace workloads
