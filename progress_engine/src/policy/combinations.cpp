// SPDX-License-Identifier: BSD-3-Clause
#include "policy/combinations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "platform/placement.hpp"
#include "policy/words.hpp"

namespace progress_engine {
namespace {

// As the user writes it.
std::string choice_of(std::string_view key, std::size_t number) {
  return words(std::ranges::find(all_settings(), key, &Setting::key)->choices, ' ')[number];
}

void refuse_events(const Policy& policy) {
  if (policy.points.events && policy.trigger == Trigger::always)
    throw SettingError(
        "points=events waits for traffic, trigger=always polls without it: use trigger=pending or outside, or "
        "points=dedicated.");
  if (policy.points.events && policy.wait != Wait::epoll && policy.wait != Wait::timer)
    throw SettingError("points=events needs a wait that ends with traffic or time: use wait=epoll or wait=timer.");
  constexpr std::array without_library = {Announcements::automatic, Announcements::sockets, Announcements::none};
  const bool by_library = std::ranges::count(without_library, policy.events) == 0;
  if (by_library && (!policy.points.events || policy.wait != Wait::epoll))
    throw SettingError(
        fmt::format("events={} needs a thread that waits for descriptors: use points=events and wait=epoll.",
                    choice_of("events", static_cast<std::size_t>(policy.events))));
}

}  // namespace

void refuse_combinations(const Policy& policy) {
  if (policy.min_distance_us > policy.max_distance_us)
    throw SettingError(fmt::format("min_distance_us ({}) exceeds max_distance_us ({}): it must not.",
                                   policy.min_distance_us, policy.max_distance_us));
  if ((policy.placement == Placement::list) == parse_cpu_list(policy.cpus).empty())
    throw SettingError(fmt::format(
        "placement=list and cpus belong together, cpus='{}' does not fit: use placement=list with cpus=0-3,8 (say), or "
        "neither.",
        policy.cpus));
  refuse_events(policy);
  if (policy.points.dedicated && policy.wait == Wait::epoll)
    throw SettingError("points=dedicated cannot wait for sockets: use points=events, or wait=spin, timer, mwait.");
  if (policy.points.dedicated && policy.wait == Wait::mwait && policy.trigger == Trigger::always)
    throw SettingError("wait=mwait waits until something is pending, trigger=always never does: use trigger=pending.");
  if (policy.managed_waiting && !policy.points.threads())
    throw SettingError(
        "waiting=managed sleeps until an engine thread has polled: it needs one of points=dedicated, "
        "timer, idle, events.");
  if (policy.offload && policy.points.any())
    throw SettingError("safety=offload polls in its one communication thread: use points=none.");
  if (policy.offload && policy.wait != Wait::epoll && policy.wait != Wait::spin)
    throw SettingError("safety=offload waits for traffic or spins: use wait=epoll or wait=spin.");
  if (policy.offload && policy.doorbell != Ringing::none)
    throw SettingError("safety=offload has no thread that a doorbell could wake: use doorbell=none.");
  if (policy.points.on_calls && policy.trigger == Trigger::outside)
    throw SettingError("points=explicit polls inside MPI calls, trigger=outside forbids that: use trigger=pending.");
}

}  // namespace progress_engine
