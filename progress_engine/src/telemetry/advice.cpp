// SPDX-License-Identifier: BSD-3-Clause
#include "telemetry/advice.hpp"

#include <string_view>

namespace progress_engine {
namespace {

// Of the run's time: what can be won is less.
constexpr double negligible_share = 0.01;
// Of so many operations one must have been moved by a poll, else the MPI does without. (Of polls it would be no
// measure: how many there are the preset chooses.)
constexpr std::uint64_t operations_a_move = 50;
// Wakes that only the timer brought.
constexpr std::uint64_t enough_wakes = 20;

std::string_view after_a_trial(std::string_view verdict) {
  if (verdict == "hurt") return "measured, it slowed this program down: leave it off";
  if (verdict == "neutral") return "measured, it made no difference here: leave it off";
  if (verdict == "unclear")
    return "the turns of this run were too few, or too uneven, to tell: compare with the variant off";
  return "measured, it helped: keep it";
}

}  // namespace

std::string advice(const Facts& facts) {
  const bool computes_beside = facts.pending_while_computing_s > negligible_share * facts.lifetime_s;
  const bool measured = !facts.verdict.empty() && facts.verdict != "not measured";
  const bool moved_nothing = facts.productive_polls == 0 || facts.productive_polls * operations_a_move < facts.tracked;
  if (!facts.active) return "";
  if (measured) return std::string(after_a_trial(facts.verdict));
  if (facts.polls_in_calls_alone)
    return "it polls inside the program's calls alone: only a program that calls MPI while it computes gains by that";
  if (!computes_beside && facts.windows)
    return "others may have reached into its windows while it computed, which nobody counts: compare with the variant "
           "off";
  if (facts.offload && !computes_beside)
    return "nothing was pending while the program computed: offload is worth its price only if threads communicate at "
           "once";
  if (facts.offload) return "operations went on while the program computed: compare with the variant adaptive";
  if (facts.tracked == 0)
    return "the engine saw no nonblocking operation, so that there was nothing for it to move (it does not see what a "
           "library calls past it)";
  if (!computes_beside && facts.samples_rarely)
    return "its threads found no idle CPU to see what was pending: compare with the variant adaptive";
  if (!computes_beside) return "nothing that needs progress was pending while the program computed: leave it off";
  if (moved_nothing && facts.moves_unseen)
    return "whether its polls moved something cannot be seen where an adapter moves the data: trial_ms=100 measures "
           "what they bring";
  if (moved_nothing)
    return "its polls were not seen to move anything, as where the MPI progresses by itself: trial_ms=100 measures "
           "what they bring";
  if (facts.disarmed_s > facts.lifetime_s / 2)
    return "polling was found not to pay and was off for most of the time: compare with rest_us=0 and with the variant "
           "off";
  if (facts.waits_for_announcements && facts.wakes >= enough_wakes && facts.announced == 0)
    return "no socket and no neighbour announced a message, the timer alone woke: compare with timer_us=500";
  return "it moved messages while the program computed: keep it; trial_ms=100 measures what that brings";
}

}  // namespace progress_engine
