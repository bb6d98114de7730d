// SPDX-License-Identifier: BSD-3-Clause
// Did the engine help? Answered by this very run: the time an operation took while the engine was armed, against the
// time it took while it was disarmed (MPI_Pcontrol(0) with pcontrol=1, pe_pause, or the turns of the setting trial_ms).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "platform/fork_mutex.hpp"
#include "platform/platform.hpp"
#include "telemetry/fields.hpp"

namespace progress_engine {

struct Verdict {
  PE_FIELDS(PE_VERDICT)
};

// The time an operation (seconds) in neighbouring phases: what changes from minute to minute is the same in both.
struct PhasePair {
  double armed_s = 0;
  double disarmed_s = 0;
};

// What pairs say. "helped" and "hurt" need a median ratio that differs from 1 by more than 2 % and signed ranks of its
// logarithms (Wilcoxon 1945, normal approximation, two-sided 5 %). "neutral" needs evidence, too: two such tests,
// one-sided, that the times differ by less than 5 % up and down (Schuirmann 1987). Else it is "unclear". Fewer than 6
// pairs say nothing.
Verdict judge_phases(const std::vector<PhasePair>& pairs);

// Of each two turns of trial_ms one is armed: which one is random, lest the program's own rhythm decides.
bool is_armed_turn(std::uint64_t turn);

// Cuts the run into phases, and puts neighbours into pairs of at least ten operations a kind: phases that are as short
// as an operation count together, those without one, too. Any thread.
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

  mutable ForkMutex mutex_;
  bool open_ = false;
  bool armed_ = false;
  Nanoseconds since_ = 0;
  std::uint64_t completed_ = 0;
  struct Phase {
    Nanoseconds time = 0;
    std::uint64_t completed = 0;
  };
  std::array<Phase, 2> pending_;  // of the pair that is not whole yet; [1] armed
  std::vector<PhasePair> pairs_;
  std::array<Nanoseconds, 2> totals_{};
};

}  // namespace progress_engine
