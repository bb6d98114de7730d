// SPDX-License-Identifier: BSD-3-Clause
#include "telemetry/advice.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace progress_engine {
namespace {

// A run in which the engine did what it is for.
Facts good_run() {
  return {.active = true,
          .lifetime_s = 10,
          .pending_while_computing_s = 5,
          .tracked = 100,
          .large = 100,
          .productive_polls = 400,
          .wakes = 300,
          .announced = 200,
          .verdict = "not measured"};
}

using Change = void (*)(Facts&);

struct Case {
  Change change;
  const char* says;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {[](Facts&) {}, "keep it"},
      // ---- what can be won
      {[](Facts& f) { f.pending_while_computing_s = 0.05; },
       "nothing that needs progress was pending while the program computed: leave it off"},
      {[](Facts& f) { f.polls_in_calls_alone = true; }, "only a program that calls MPI while it computes"},
      // ---- what it does not see
      {[](Facts& f) { f.tracked = 0; }, "saw no nonblocking operation"},
      {[](Facts& f) { f.tracked = 0, f.pending_while_computing_s = 0, f.windows = true; }, "its windows"},
      {[](Facts& f) { f.offload = true, f.pending_while_computing_s = 0, f.windows = true; }, "its windows"},
      {[](Facts& f) { f.pending_while_computing_s = 0, f.samples_rarely = true; }, "compare with the variant adaptive"},
      {[](Facts& f) { f.productive_polls = 0, f.moves_unseen = true; }, "an adapter moves the data: trial_ms=100"},
      {[](Facts& f) { f.moves_unseen = true; }, "keep it"},
      // ---- moves are held against operations
      {[](Facts& f) { f.productive_polls = 0; }, "not seen to move anything"},
      {[](Facts& f) { f.productive_polls = 1; }, "not seen to move anything"},
      {[](Facts& f) { f.productive_polls = 1, f.large = 10; }, "keep it"},
      // ---- a setting may help
      {[](Facts& f) { f.announced = 0; }, "keep it"},  // a timer waits for nothing else
      {[](Facts& f) { f.announced = 0, f.waits_for_announcements = true; }, "timer_us=500"},
      {[](Facts& f) { f.disarmed_s = 6; }, "rest_us=0"},
      {[](Facts& f) { f.offload = true; }, "compare with the variant adaptive"},
      {[](Facts& f) { f.offload = true, f.pending_while_computing_s = 0; }, "only if threads communicate at once"},
      // ---- a measurement is believed more
      {[](Facts& f) { f.verdict = "hurt"; }, "slowed this program down: leave it off"},
      {[](Facts& f) { f.verdict = "neutral"; }, "made no difference here: leave it off"},
      {[](Facts& f) { f.verdict = "unclear"; }, "compare with the variant off"},
      {[](Facts& f) { f.verdict = "helped", f.pending_while_computing_s = 0; }, "measured, it helped: keep it"},
  };
  return all;
}

TEST(Advice, IsByWhatTheRunShowed) {
  for (const auto& [change, says] : cases()) {
    auto facts = good_run();
    change(facts);
    EXPECT_NE(advice(facts).find(says), std::string::npos) << advice(facts) << ", not " << says;
    facts.active = false;
    EXPECT_EQ(advice(facts), "");
  }
}

// Whatever else holds: without a measurement that takes operations that were seen, none of which was pending while the
// program computed, by threads that looked.
TEST(Advice, LeavesItOffOnlyOnEvidence) {
  constexpr std::array<bool Facts::*, 6> flags = {
      &Facts::offload,        &Facts::polls_in_calls_alone,    &Facts::windows,
      &Facts::samples_rarely, &Facts::waits_for_announcements, &Facts::moves_unseen};
  for (unsigned set = 0; set < 1U << flags.size(); ++set)
    for (const double pending : {0.0, 5.0})
      for (const std::uint64_t tracked : {0U, 100U})
        for (const std::uint64_t productive : {0U, 593U})
          for (const std::uint64_t announced : {0U, 200U}) {
            auto facts = good_run();
            for (std::size_t i = 0; i < flags.size(); ++i) facts.*flags[i] = ((set >> i) & 1U) != 0;
            facts.pending_while_computing_s = pending;
            facts.tracked = tracked;
            facts.productive_polls = productive;
            facts.announced = announced;
            const bool evidence = pending == 0 && tracked > 0 && !facts.windows && !facts.samples_rarely &&
                                  !facts.offload && !facts.polls_in_calls_alone;
            EXPECT_EQ(advice(facts).find("leave it off") != std::string::npos, evidence) << advice(facts);
          }
}

}  // namespace
}  // namespace progress_engine
