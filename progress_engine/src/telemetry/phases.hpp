// SPDX-License-Identifier: BSD-3-Clause
// Did the engine help? Answered by this very run: the time an operation took while the engine was armed, against the
// time it took while it was disarmed (MPI_Pcontrol(0) with pcontrol=1, pe_pause, or the turns of the setting trial_ms).
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "platform/platform.hpp"

namespace progress_engine {

struct Verdict {
  std::string word = "not measured";  // or helped, neutral, hurt, unclear
  std::size_t armed_phases = 0;
  std::size_t disarmed_phases = 0;
  double armed_s = 0;  // median time an operation, of the phases; 0 if there are none
  double disarmed_s = 0;
};

// What the phases' times an operation (seconds) say. "helped" and "hurt" need medians that differ by more than 2 % and
// a rank-sum test (Mann and Whitney 1947, normal approximation, two-sided 5 %). "neutral" needs evidence, too: two such
// tests, one-sided, that the times differ by less than 5 % up and down (Schuirmann 1987). Else it is "unclear". Fewer
// than 5 phases a side say nothing.
Verdict judge_phases(std::vector<double> armed, std::vector<double> disarmed);

// Of each two turns of trial_ms one is armed: which one is random, lest the program's own rhythm decides.
bool is_armed_turn(std::uint64_t turn);

// Cuts the run into phases. Any thread.
class PhaseMeter {
 public:
  // The engine is armed or disarmed from now on; `completed` counts the program's operations. Call at the start, too.
  void change(bool armed, Nanoseconds now, std::uint64_t completed);
  // Ends the last phase.
  void end(Nanoseconds now, std::uint64_t completed);
  Verdict verdict() const;
  // How long it was armed, or disarmed, in all.
  Nanoseconds total(bool armed, Nanoseconds now) const;

 private:
  void close(Nanoseconds now, std::uint64_t completed);

  mutable std::mutex mutex_;
  bool open_ = false;
  bool armed_ = false;
  Nanoseconds since_ = 0;
  std::uint64_t completed_ = 0;
  std::array<std::vector<double>, 2> times_;  // seconds an operation; [1] armed
  std::array<Nanoseconds, 2> totals_{};
};

}  // namespace progress_engine
