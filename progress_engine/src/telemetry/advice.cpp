// SPDX-License-Identifier: BSD-3-Clause
#include "telemetry/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <ranges>
#include <string_view>
#include <utility>

namespace progress_engine {
namespace {

// Of the run's time: what can be won is less.
constexpr double negligible_share = 0.01;
// Of so many operations that need progress one must have been moved by a poll, else the MPI does without. (Of polls it
// would be no measure: how many there are the preset chooses. Nor of all operations: small ones arrive by themselves.)
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

bool computes_beside_messages(const Facts& facts) {
  return facts.pending_while_computing_s > negligible_share * facts.lifetime_s;
}

}  // namespace

std::string advice(const Facts& facts) {
  const bool computes_beside = computes_beside_messages(facts);
  const bool measured = !facts.verdict.empty() && facts.verdict != "not measured";
  const bool moved_nothing = facts.productive_polls == 0 || facts.productive_polls * operations_a_move < facts.large;
  if (!facts.active) return "";
  if (measured) return std::string(after_a_trial(facts.verdict));
  if (facts.polls_in_calls_alone)
    return "it polls inside the program's calls alone: only a program that calls MPI while it computes gains by that";
  if (!computes_beside && facts.window_answers > 0)
    return "others reached into its windows while it computed, and polls moved what they asked for: compare with the "
           "variant off";
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

// ---- of reports

namespace {

// An adapter moves the data once a poll has told it to, and that takes no longer than a poll that finds nothing. Only a
// library that is armed says what it moved.
bool moves_unseen(const Report& report) {
  constexpr std::array<std::string_view, 3> adapters = {"/dev/infiniband/", "/dev/cxi", "/dev/hfi1"};
  const auto was_armed = [](const auto& of) { return of.second > 0; };
  const bool armed = report.events && std::ranges::any_of(report.events->armed, was_armed);
  return !armed && std::ranges::any_of(report.transport.devices, [&](const auto& device) {
    return std::ranges::any_of(adapters, [&](auto begin) { return device.starts_with(begin); });
  });
}

double lifetime_of(const Report& report) { return report.armed_s.value_or(0) + report.disarmed_s.value_or(0); }

Facts facts_of(const Report& report) {
  const auto by = [&](WakeSource source) { return report.wake_sources[static_cast<std::size_t>(source)]; };
  return {.active = report.active,
          .offload = report.offload.has_value(),
          .polls_in_calls_alone = !report.pending_while_computing_s,
          .windows = report.windows,
          .samples_rarely = report.samples_rarely,
          .waits_for_announcements = report.waits_for_announcements,
          .moves_unseen = moves_unseen(report),
          .lifetime_s = lifetime_of(report),
          .pending_while_computing_s = report.pending_while_computing_s.value_or(0),
          .disarmed_s = report.disarmed_s.value_or(0),
          .tracked = report.tracked,
          .large = report.large,
          .productive_polls = report.productive_polls,
          .window_answers = report.window_answers,
          .wakes = report.wakes,
          .announced = by(WakeSource::traffic) + by(WakeSource::neighbour),
          .verdict = report.verdict.word};
}

// Of what the ranks measured, what more than half say. They wait for each other: one that gains nothing by itself may
// still be why others do.
std::string common_verdict(const std::vector<Facts>& ranks) {
  std::map<std::string, std::size_t> said;
  for (const auto& rank : ranks) ++said[rank.verdict];
  const auto most = std::ranges::max_element(said, {}, [](const auto& one) { return one.second; });
  return 2 * most->second > ranks.size() ? most->first : "unclear";
}

// Times are those of the rank with the largest share of something pending: one that is late keeps the others waiting.
Facts facts_of_job(const std::vector<Facts>& ranks) {
  const auto share = [](const Facts& rank) { return rank.pending_while_computing_s / std::max(rank.lifetime_s, 1e-9); };
  Facts job = *std::ranges::max_element(ranks, {}, share);
  job.tracked = job.large = job.productive_polls = job.window_answers = job.wakes = job.announced = 0;
  for (const auto& rank : ranks) {
    job.windows = job.windows || rank.windows;
    job.samples_rarely = job.samples_rarely || rank.samples_rarely;
    job.moves_unseen = job.moves_unseen || rank.moves_unseen;
    job.tracked += rank.tracked;
    job.large += rank.large;
    job.productive_polls += rank.productive_polls;
    job.window_answers += rank.window_answers;
    job.wakes += rank.wakes;
    job.announced += rank.announced;
  }
  job.verdict = common_verdict(ranks);
  return job;
}

// "0.2 s (0.1 to 0.34)": the median, and the least and the most where they differ.
template <typename Of>
std::string spread(const std::vector<Report>& reports, std::string_view unit, double factor, Of of) {
  std::vector<double> values(reports.size());
  std::ranges::transform(reports, values.begin(), [&](const Report& report) { return factor * of(report); });
  std::ranges::sort(values);
  const auto text = [](double value) { return fmt::format("{:.3g}", value); };
  const auto [least, most] = std::pair{text(values.front()), text(values.back())};
  const auto middle = text((values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2);
  return least == most ? fmt::format("{} {}", middle, unit)
                       : fmt::format("{} {} ({} to {})", middle, unit, least, most);
}

// "adaptive on 4 ranks", "adaptive on 2 of 4 ranks"
std::string who(const std::vector<Report>& reports) {
  const auto size = static_cast<std::size_t>(std::max(reports.front().world_size.value_or(0), 0));
  const auto& preset = reports.front().preset;
  if (reports.front().rank < 0 && reports.size() == 1) return preset;
  if (size > reports.size() && reports.size() == 1)
    return fmt::format("{} on rank {} of {}", preset, reports.front().rank, size);
  const auto of = size > reports.size() ? fmt::format(" of {}", size) : "";
  return fmt::format("{} on {}{} rank{}", preset, reports.size(), of, std::max(size, reports.size()) == 1 ? "" : "s");
}

std::string could_be_won(const std::vector<Report>& active, const Facts& job) {
  if (job.polls_in_calls_alone) return "what was pending while the program computed is not known";
  const auto pending =
      spread(active, "s", 1, [](const auto& one) { return one.pending_while_computing_s.value_or(0); });
  return fmt::format("{}{} of {} could be won{}: so long something was pending while the program computed",
                     job.samples_rarely ? "at least " : "", pending, spread(active, "s", 1, lifetime_of),
                     job.samples_rarely ? "" : " at most");
}

std::string was_won(const std::vector<Report>& active, const Facts& job) {
  if (job.verdict != "not measured")
    return fmt::format("an operation took {} with it on, {} with it off",
                       spread(active, "ms", 1e3, [](const auto& one) { return one.verdict.armed_s; }),
                       spread(active, "ms", 1e3, [](const auto& one) { return one.verdict.disarmed_s; }));
  if (job.offload) return "what was won is not measured";
  return fmt::format("what was won is not measured, polls moved data {} times for {} operations that need progress",
                     job.productive_polls, job.large);
}

// Where somebody could have been woken. Of the rank that reaches the fewest.
std::string without_doorbells(const std::vector<Report>& active, const Facts& job) {
  const auto of = [](const Report& report) { return report.doorbell ? report.doorbell->unreached : 0; };
  const auto most = std::ranges::max(active | std::views::transform(of));
  return most == 0 || !computes_beside_messages(job)
             ? ""
             : fmt::format("; neighbours on one node without a doorbell: {}", most);
}

std::string sentence(const std::vector<Report>& reports, std::size_t unheard) {
  std::vector<Report> active;
  std::ranges::copy_if(reports, std::back_inserter(active), &Report::active);
  std::string text = fmt::format("progress engine: {}: ", who(reports));
  if (active.empty()) {
    text += "inactive: " + reports.front().reason;
  } else {
    std::vector<Facts> ranks;
    std::ranges::transform(active, std::back_inserter(ranks), facts_of);
    const Facts job = facts_of_job(ranks);
    text +=
        fmt::format("{}; {}; it cost {} of CPU and {} a rank; {}{}", could_be_won(active, job), was_won(active, job),
                    spread(active, "s", 1, [](const auto& one) { return cost_of(one).cpu_s; }),
                    spread(active, "context switches", 1,
                           [](const auto& one) { return static_cast<double>(cost_of(one).switches); }),
                    advice(job), without_doorbells(active, job));
    const auto inactive = std::ranges::find(reports, false, &Report::active);
    if (inactive != reports.end())
      text += fmt::format("; inactive on {}: {}", reports.size() - active.size(), inactive->reason);
  }
  return unheard == 0 ? text + "\n" : fmt::format("{}; {} more ended without a report\n", text, unheard);
}

}  // namespace

std::string advice_of(const Report& report) { return advice(facts_of(report)); }

std::string sentences(const std::vector<Report>& reports, std::size_t unheard) {
  std::vector<std::vector<Report>> jobs;
  for (const auto& report : reports) {
    const auto lacks = [&](const auto& job) { return std::ranges::find(job, report.rank, &Report::rank) == job.end(); };
    const auto job = report.rank < 0 ? jobs.begin() : std::ranges::find_if(jobs, lacks);
    (job == jobs.end() ? jobs.emplace_back() : *job).push_back(report);
  }
  std::string text;
  for (const auto& job : jobs) text += sentence(job, std::exchange(unheard, 0));
  return text;
}

}  // namespace progress_engine
