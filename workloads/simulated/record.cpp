// SPDX-License-Identifier: BSD-3-Clause
#include "record.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>

#include "common/record_file.h"

namespace simulated {
namespace {

std::string utc_now() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::now())); }

Json header(const Launched& launched, const Source& source, const Model& model, int ranks, const Quantities& declared) {
  Json context = launched.context;
  Json& simulated = context["simulated"];
  if (!simulated.is_object()) {
    simulated = Json::object();
  }
  simulated["files"].update(source.files);  // a session names all files of the model
  simulated["platform"] = std::filesystem::path(source.platform).filename().string();
  simulated["model"] = std::filesystem::path(source.model_file).filename().string();
  simulated["draw"] = source.draw;
  simulated["simgrid"] = Network::version();
  Json hosts = Json::array();
  for (int rank = 0; rank < ranks; ++rank) {
    hosts.push_back({{"rank", rank},
                     {"host", fmt::format("simulated-{}", rank)},
                     {"cpus_allowed", Json::array({0})},
                     {"clock_resolution_s", 0.0}});
  }
  return {{"header",
           {
               {"schema", 4},
               {"context", context},
               {"workload", {{"name", launched.benchmark}, {"version", WORKLOADS_VERSION}}},
               {"quantities", workloads::describe_by_name(declared)},
               {"arguments", launched.arguments},
               {"mpi_library", fmt::format("simulated: no MPI, a model of {}", model.mpi)},
               {"thread_level", {{"asked", "single"}, {"provided", "single"}}},
               {"world_size", ranks},
               {"ranks", hosts},
               {"start_time", utc_now()},
           }}};
}

Json point_line(const Json& point, int rank, const Measured& measured, int warmup) {
  Json samples = Json::object();
  for (const auto& [name, value] : measured.values) {
    samples[std::string(name)] = Json::array({value});
  }
  return {{"point", point},     {"rank", rank},     {"role", measured.role}, {"status", "ok"},
          {"samples", samples}, {"warmup", warmup}, {"converged", true}};
}

Json engine_of(const Launched& launched, const Rank& rank) {
  const auto& preset = launched.variant.preset;
  if (preset == "bare" || preset == "mpi-async") {
    return nullptr;
  }
  Json given = Json::object();  // those that were asked for; why_not lets none pass that is no number
  for (const auto& [name, text] : launched.variant.settings) {
    const double value = std::strtod(text.c_str(), nullptr);
    given[name] = value == std::floor(value) ? Json(static_cast<std::int64_t>(value)) : Json(value);
  }
  return {{"simulated", true},           {"preset", preset},
          {"settings", given},           {"active", preset != "off"},
          {"wakes", rank.polls().wakes}, {"productive_wakes", rank.polls().productive},
          {"cpu_s", rank.polls().cpu}};
}

}  // namespace

void write_record(const Launched& launched, const Source& source, const Model& model, const Run* run, int ranks,
                  const std::vector<std::pair<const Pattern*, Json>>& points,
                  const std::vector<std::vector<Measured>>& results,
                  const std::vector<std::pair<Json, std::string>>& left_out) {
  Quantities declared;
  for (const auto& [pattern, point] : points) {
    declared = declared.empty() ? pattern->quantities() : workloads::joined(declared, pattern->quantities());
  }
  workloads::RecordFile file(launched.output);
  file.write(header(launched, source, model, ranks, declared));
  for (std::size_t i = 0; i < points.size(); ++i) {
    int rank = 0;
    for (const auto& measured : results[i]) {
      file.write(point_line(points[i].second, rank++, measured, run->warmup()));
    }
  }
  for (const auto& [point, reason] : left_out) {
    file.write(
        Json{{"point", point}, {"rank", 0}, {"status", "skipped"}, {"reason", reason}, {"samples", Json::object()}});
  }
  Json ends = Json::array();
  for (int rank = 0; rank < ranks; ++rank) {
    ends.push_back({{"rank", rank},
                    {"cpus_observed", Json::array({0})},
                    {"interface_bytes", Json::object()},
                    {"engine", run ? engine_of(launched, *run->ranks()[static_cast<std::size_t>(rank)]) : Json()}});
  }
  const double simulated = run ? run->ranks().front()->now() : 0;
  file.write(
      {{"end", {{"status", "ok"}, {"elapsed_s", source.elapsed()}, {"simulated_s", simulated}, {"ranks", ends}}}});
}

}  // namespace simulated
