// SPDX-License-Identifier: BSD-3-Clause
#include "fabrics/watched.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace progress_engine {
namespace {

// Of the kernel's classes of devices. Omni-Path's, EFA's and iWARP's are verbs devices, too.
constexpr std::array<const char*, 2> classes = {"/sys/class/infiniband", "/sys/class/cxi"};

std::string_view why_nothing_was_opened(Fabric fabric) {
  if (fabric == Fabric::ucx)
    return "the MPI made no worker of UCX's that the engine saw: it does not use UCX, or has it linked statically";
  return "the MPI opened no completion queue of libfabric's that the engine saw: it does not use libfabric, or has it "
         "linked statically";
}

}  // namespace

Watched what_to_watch(Announcements events, bool has_device) {
  const bool automatic = events == Announcements::automatic;
  return {.sockets = automatic || events == Announcements::sockets,
          .ucx = events == Announcements::ucx || (automatic && has_device),
          .libfabric = events == Announcements::libfabric || (automatic && has_device)};
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
    for (const Fabric fabric : {Fabric::ucx, Fabric::libfabric})
      if (const auto refusal = fabrics.refusal(fabric); !refusal.empty())
        refusals += (refusals.empty() ? "" : "; ") + refusal;
    return refusals;
  }
  if (events != Announcements::ucx && events != Announcements::libfabric) return "";
  const Fabric fabric = events == Announcements::ucx ? Fabric::ucx : Fabric::libfabric;
  if (fabrics.opened(fabric) > 0) return "";
  const auto refusal = fabrics.refusal(fabric);
  const std::string_view why = refusal.empty() ? why_nothing_was_opened(fabric) : refusal;
  return std::string("events=").append(fabric_names[index(fabric)]).append(": ").append(why);
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
