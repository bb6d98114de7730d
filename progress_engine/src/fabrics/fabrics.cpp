// SPDX-License-Identifier: BSD-3-Clause
#include "fabrics/fabrics.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "policy/settings.hpp"
#include "wait/event_source.hpp"

namespace progress_engine {
namespace {

// Of the kernel's classes of devices. Omni-Path's, EFA's and iWARP's are verbs devices, too.
constexpr std::array<const char*, 2> classes = {"/sys/class/infiniband", "/sys/class/cxi"};

// What the setting calls them, and why nothing of theirs was opened.
struct Named {
  Announcements events;
  std::string_view nothing_opened;
};
constexpr PerFabric<Named> named = {{
    {.events = Announcements::ucx,
     .nothing_opened =
         "the MPI made no worker of UCX's that the engine saw: it does not use UCX, or has it linked statically"},
    {.events = Announcements::libfabric,
     .nothing_opened = "the MPI opened no completion queue of libfabric's that the engine saw: it does not use "
                       "libfabric, or has it linked statically"},
    {.events = Announcements::verbs,
     .nothing_opened = "the MPI made no completion queue of verbs that the engine saw: it does not use them itself, or "
                       "has them linked statically"},
}};

// That some objects were passed over matters where no other one was opened.
std::string refusal_of(Fabric fabric, const Fabrics& fabrics) {
  const auto refusal = fabrics.refusal(fabric);
  return refusal.empty() && fabrics.opened(fabric) == 0 ? fabrics.passed_over(fabric) : refusal;
}

}  // namespace

Watched what_to_watch(Announcements events, bool has_device) {
  const bool automatic = events == Announcements::automatic;
  Watched watched{.sockets = automatic || events == Announcements::sockets, .fabrics = {}};
  std::ranges::transform(named, watched.fabrics.begin(),
                         [&](const Named& fabric) { return events == fabric.events || (automatic && has_device); });
  return watched;
}

bool has_fabric_device(const std::string& root) {
  return std::ranges::any_of(classes, [&](const char* name) {
    std::error_code error;
    const std::filesystem::directory_iterator devices(root + name, error);
    return !error && devices != std::filesystem::directory_iterator{};
  });
}

std::string what_lacks(Announcements events, const Fabrics& fabrics) {
  if (events == Announcements::automatic) {
    std::string refusals;
    bool another = false;  // is what the MPI uses, whether it announces or not
    for (const Fabric fabric : all_fabrics) {
      const auto refusal = fabric == Fabric::verbs && another ? "" : refusal_of(fabric, fabrics);
      if (!refusal.empty()) refusals += (refusals.empty() ? "" : "; ") + refusal;
      another = another || !refusal.empty() || fabrics.opened(fabric) > 0;
    }
    return refusals;
  }
  const auto* const found = std::ranges::find(named, events, &Named::events);
  if (found == named.end()) return "";
  const Fabric fabric = all_fabrics[static_cast<std::size_t>(found - named.begin())];
  if (fabrics.opened(fabric) > 0) return "";
  const auto refusal = refusal_of(fabric, fabrics);
  const std::string_view why = refusal.empty() ? found->nothing_opened : refusal;
  return std::string("events=").append(fabric_names[index(fabric)]).append(": ").append(why);
}

std::span<const Replaced> calls_of(Fabric fabric) {
  constexpr PerFabric<std::span<const Replaced> (*)()> all = {ucx_calls, libfabric_calls, verbs_calls};
  return all[index(fabric)]();
}

std::vector<std::string> sources_in_use(const EventSource& events) {
  const auto counts = events.counts();
  std::vector<std::string> names;
  if (events.has_sockets()) names.emplace_back("sockets");
  for (std::size_t i = 0; i < fabric_names.size(); ++i)
    if (counts.armed[i] > 0) names.emplace_back(fabric_names[i]);
  return names;
}

}  // namespace progress_engine
