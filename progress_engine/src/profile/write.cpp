// SPDX-License-Identifier: BSD-3-Clause
#include "profile/write.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "profile/call.hpp"
#include "telemetry/report.hpp"

namespace progress_engine::profile {
namespace {

using Json = nlohmann::ordered_json;

double to_seconds(Nanoseconds time) { return 1e-9 * static_cast<double>(time); }

// "file", "offset": of the return address in that file, and "symbol" of code; nothing of code that is in no file.
void put_address(Json& place, const void* address) {
  Dl_info info{};
  void* extra = nullptr;
  if (dladdr1(address, &info, &extra, RTLD_DL_LINKMAP) == 0) return;
  const auto* map = static_cast<const link_map*>(extra);
  std::error_code error;
  const bool is_library = map && map->l_name && *map->l_name;
  place["file"] = is_library ? map->l_name : std::filesystem::read_symlink("/proc/self/exe", error).string();
  place["offset"] = reinterpret_cast<std::uintptr_t>(address) - (map ? map->l_addr : 0);
  place["symbol"] = info.dli_sname ? Json(info.dli_sname) : Json(nullptr);
}

// {"call": "MPI_Isend", "region": its name, if it is in one, and of Python "place": the function and its line; else its
// address, and "callers" with theirs where several frames tell a call site}
Json place_of(const CallSite& site) {
  Json place;
  place["call"] = function_names[site.function];
  if (site.region != 0) place["region"] = name_of_region(site.region);
  switch (site.kind) {
    case CallSite::Kind::text:
      place["place"] = static_cast<const char*>(site.address);
      break;
    case CallSite::Kind::code:
      put_address(place, site.address);
      break;
    case CallSite::Kind::frames:
      const auto& frames = *static_cast<const Frames*>(site.address);
      put_address(place, frames.front());
      for (const void* frame : std::span(frames).subspan(1)) put_address(place["callers"].emplace_back(), frame);
  }
  return place;
}

Json row_of(const Operation& operation, const Sums& sums) {
  Json row;
  row["start"] = operation.start.address ? place_of(operation.start) : Json(nullptr);
  row["completion"] = operation.completion.address ? place_of(operation.completion) : Json(nullptr);
  row["count"] = sums.count;
  row["bytes"] = sums.bytes;
  row["inside_s"] = to_seconds(sums.inside);
  row["computed_s"] = to_seconds(sums.computed);
  row["waited_s"] = to_seconds(sums.waited);
  row["winnable_s"] = to_seconds(sums.winnable);
  row["then_computed_s"] = to_seconds(sums.then_computed);
  return row;
}

// Nanoseconds since profiling began; null: it was never completed.
Json messages_of(const Stream& stream, std::span<const Life> messages, Nanoseconds began) {
  Json row;
  if (stream.peer == Stream::everyone) {
    row["collective"] = function_names[stream.tag];
    row["group"] = stream.group;
  } else {
    row["peer"] = stream.peer;
    row["tag"] = stream.tag;
    row["sends"] = stream.sends;
  }
  row["size"] = stream.size;
  row["starts"] = Json::array();
  row["completing"] = Json::array();
  for (const auto& [start, completing] : messages) {
    row["starts"].push_back(start - began);
    row["completing"].push_back(completing == Life::never ? Json(nullptr) : Json(completing - began));
  }
  return row;
}

// [operation, stream, number, call, begin, time, share, computed, thread, outside]
Json wait_of(const Wait& wait, std::size_t operation, Nanoseconds began) {
  return Json::array({operation, wait.message.stream, wait.message.number, wait.call, wait.begin - began, wait.time,
                      wait.share, wait.computed, reinterpret_cast<std::uintptr_t>(wait.thread), wait.outside});
}

// The clock by which machines are set, when the monotonic one shows `time`.
Nanoseconds time_of_day(Nanoseconds time) {
  timespec day{};
  clock_gettime(CLOCK_REALTIME, &day);
  return seconds(day.tv_sec) + day.tv_nsec - (now() - time);
}

// When it began by a clock that all processes have, and how much faster than its own that one goes; rank 0's where they
// were compared: clocks differ by another amount at the end than in the beginning.
void put_clock(Json& object, const Process& process, Nanoseconds began) {
  const auto& first = process.clock_first;
  const auto& last = process.clock_last;
  object["began_ns"] = first ? began + first->offset : time_of_day(began);
  object["pace"] = first && last && last->at > first->at ? 1 + static_cast<double>(last->offset - first->offset) /
                                                                   static_cast<double>(last->at - first->at)
                                                         : 1.0;
  object["clock_error_ns"] = first ? Json(std::max(first->error, last ? last->error : 0)) : Json(nullptr);
}

}  // namespace

void write(const Process& process) {
  const Profile& all = profile();
  Json object;
  object["version"] = 4;
  object["rank"] = process.rank;
  object["world_size"] = process.size;
  object["host"] = host_name();
  object["elapsed_s"] = to_seconds((all.ended ? all.ended.load() : now()) - all.began);
  object["inside_s"] = to_seconds(all.inside);
  put_clock(object, process, all.began);
  object["transport"] = look_at_transport().words();
  object["operations"] = Json::array();
  std::vector<Operation> known;
  all.sites.for_each([&](const Operation& operation, const Sums& sums) {
    object["operations"].push_back(row_of(operation, sums));
    known.push_back(operation);
  });
  object["numbers_receives"] = all.messages.numbers_receives();
  object["streams"] = Json::array();
  all.messages.for_each_stream([&](const Stream& stream, std::span<const Life> messages) {
    object["streams"].push_back(messages_of(stream, messages, all.began));
  });
  object["waits"] = Json::array();
  all.messages.for_each_wait([&](const Wait& wait) {
    const auto found = std::ranges::find(known, wait.operation);
    if (found != known.end())
      object["waits"].push_back(wait_of(wait, static_cast<std::size_t>(found - known.begin()), all.began));
  });
  const auto name = process.folder + "/profile." + host_name() + "." + std::to_string(getpid()) + ".json";
  std::error_code error;
  std::filesystem::create_directories(process.folder, error);
  const auto partial = name + ".part";  // whole or not at all
  bool written = false;
  {
    std::ofstream file(partial);
    written = static_cast<bool>(file << object.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n'
                                     << std::flush);
  }
  if (!written || std::rename(partial.c_str(), name.c_str()) != 0)
    std::fprintf(stderr, "progress engine: the profile %s cannot be written: %s.\n", name.c_str(),
                 std::strerror(errno));
}

}  // namespace progress_engine::profile
