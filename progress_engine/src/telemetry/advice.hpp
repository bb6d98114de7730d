// SPDX-License-Identifier: BSD-3-Clause
// One sentence for the user, from what a run has shown: what could be won, what was won, what it cost; and whether the
// engine is worth having here, and what to set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "telemetry/report.hpp"

namespace progress_engine {

struct Facts {
  bool active = false;
  bool offload = false;
  bool polls_in_calls_alone = false;     // nobody looks while the program computes
  bool windows = false;                  // others may have reached into its memory, which nobody counts
  bool samples_rarely = false;           // its threads run only where a CPU is idle
  bool waits_for_announcements = false;  // of traffic, by sockets, fabrics or neighbours
  bool moves_unseen = false;             // a poll that starts an adapter takes no longer than one in vain
  double lifetime_s = 0;
  double pending_while_computing_s = 0;
  double disarmed_s = 0;
  std::uint64_t tracked = 0;
  std::uint64_t large = 0;  // of these, those that need progress
  std::uint64_t productive_polls = 0;
  std::uint64_t window_answers = 0;
  std::uint64_t wakes = 0;
  std::uint64_t announced = 0;  // of these, by traffic or a neighbour
  std::string verdict;          // of trial_ms
};

// Without a full stop; "" for an engine that was not active, whose reason says it all.
std::string advice(const Facts& facts);
std::string advice_of(const Report& report);

// "progress engine: adaptive on 4 ranks: ...", one line for each job in the reports, in the order of their ends: a rank
// that is there again is another job's. `unheard`: ranks of which there is no report.
std::string sentences(const std::vector<Report>& reports, std::size_t unheard = 0);

}  // namespace progress_engine
