// SPDX-License-Identifier: BSD-3-Clause
#include "fabrics/own_progress.hpp"

#include <strings.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace progress_engine {
namespace {

bool any_begins(const std::vector<std::string>& names, std::string_view begin) {
  return std::ranges::any_of(names, [&](const auto& name) { return name.starts_with(begin); });
}

// Slingshot. In the modes hardware (the default) and hybrid the adapter matches messages, and fetches a matched
// rendezvous without the software (fi_cxi(7)); hybrid falls back to software where the adapter's lists are full.
OwnProgress of_cxi(const NetworkFacts& facts) {
  if (!any_begins(facts.devices, "/dev/cxi")) return {};
  const auto mode = facts.variable("FI_CXI_RX_MATCH_MODE");
  if (mode == "software")
    return {.by = "", .hint = "FI_CXI_RX_MATCH_MODE=hardware lets the Slingshot adapter match and move messages"};
  return {.by = "the Slingshot adapter matches and moves messages (FI_CXI_RX_MATCH_MODE=software would not let it)",
          .hint = ""};
}

// UCX's values of a switch, in whatever case.
bool is_on(const std::string& value) {
  constexpr std::array<const char*, 5> words = {"y", "yes", "on", "1", "try"};
  return std::ranges::any_of(words, [&](const char* word) { return strcasecmp(word, value.c_str()) == 0; });
}

// InfiniBand adapters of the series mlx5, from ConnectX-5 on.
OwnProgress of_ucx(const NetworkFacts& facts) {
  constexpr std::array<const char*, 3> switches = {"UCX_RC_TM_ENABLE", "UCX_RC_MLX5_TM_ENABLE",
                                                   "UCX_DC_MLX5_TM_ENABLE"};
  if (!any_begins(facts.libraries, "libuct_ib") || !any_begins(facts.devices, "/dev/infiniband/uverbs") ||
      !any_begins(facts.adapters, "mlx5_"))
    return {};
  for (const char* name : switches)
    if (is_on(facts.variable(name)))
      return {.by = std::string("UCX lets the InfiniBand adapter match messages (") + name + ")", .hint = ""};
  return {
      .by = "",
      .hint = "UCX_RC_MLX5_TM_ENABLE=y and UCX_DC_MLX5_TM_ENABLE=y let an adapter from ConnectX-5 on match messages"};
}

// Omni-Path: a thread of the library's receives, unless it is switched off.
OwnProgress of_psm2(const NetworkFacts& facts) {
  if (!any_begins(facts.libraries, "libpsm2") || !any_begins(facts.devices, "/dev/hfi1")) return {};
  if (facts.variable("PSM2_RCVTHREAD") == "0") return {.by = "", .hint = "PSM2_RCVTHREAD=1 starts PSM2's own thread"};
  return {.by = "PSM2 has a thread of its own (PSM2_RCVTHREAD=0 switches it off)", .hint = ""};
}

}  // namespace

OwnProgress own_progress(const NetworkFacts& facts) {
  OwnProgress hinted;
  for (const auto& found : {of_cxi(facts), of_ucx(facts), of_psm2(facts)}) {
    if (!found.by.empty()) return found;
    if (hinted.hint.empty()) hinted.hint = found.hint;
  }
  return hinted;
}

std::vector<std::string> verbs_adapters(const std::string& root) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(root + "/sys/class/infiniband", error))
    names.push_back(entry.path().filename().string());
  return names;
}

}  // namespace progress_engine
