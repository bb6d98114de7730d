// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "profile/call.hpp"

namespace progress_engine::profile {
namespace {

constexpr std::size_t most_regions = 1000;  // what comes after belongs to none

struct All {
  std::mutex mutex;
  Regions regions = Regions::off;
  std::deque<std::string> names{""};  // by number; a deque's elements stay where they are
  std::vector<std::uint16_t> outer;
};

All& all() {
  static auto* the_regions = new All;
  return *the_regions;
}

std::atomic<std::uint16_t> current{0};

std::uint16_t number_of(std::deque<std::string>& names, const std::string& name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end() && names.size() > most_regions) return 0;
  const auto number = static_cast<std::uint16_t>(found - names.begin());
  if (found == names.end()) names.push_back(name);
  return number;
}

}  // namespace

void set_regions(Regions regions) {
  const std::scoped_lock lock(all().mutex);
  all().regions = regions;
}

void pcontrol(int level, const char* name) {
  auto& [mutex, regions, names, outer] = all();
  const std::scoped_lock lock(mutex);
  if (regions == Regions::levels) {
    current = level == 0 ? 0 : number_of(names, std::to_string(level));
  } else if (regions == Regions::names && level == 1 && name) {
    outer.push_back(current);
    current = number_of(names, name);
  } else if (regions == Regions::names && level == -1 && !outer.empty()) {
    current = outer.back();
    outer.pop_back();
  }
}

std::uint16_t current_region() { return current.load(std::memory_order_relaxed); }

const char* name_of_region(std::uint16_t region) {
  const std::scoped_lock lock(all().mutex);
  return all().names[region].c_str();
}

}  // namespace progress_engine::profile
