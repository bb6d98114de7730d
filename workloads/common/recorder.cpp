// SPDX-License-Identifier: BSD-3-Clause
#include "common/recorder.h"

#include <dlfcn.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <utility>

#include "common/errors.h"
#include "common/machine.h"

namespace workloads {
namespace {

Json engine_report() {
  using Report = const char* (*)();
  const auto report = reinterpret_cast<Report>(dlsym(RTLD_DEFAULT, "pe_report_json"));
  if (report == nullptr) {
    return nullptr;
  }
  const char* text = report();
  Json parsed = Json::parse(text == nullptr ? "" : text, nullptr, false);
  return parsed.is_object() ? parsed : Json{{"malformed_report", text == nullptr ? "" : text}};
}

std::string utc_now() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::now())); }

// What this process has of the variables that the harness has set for the launch; null where one did not arrive.
Json environment_of_process(const Json& context) {
  Json found = Json::object();
  const Json asked = context.value("mpi_environment", Json::object());  // items() refers to it
  for (const auto& [name, value] : asked.items()) {
    const char* here = std::getenv(name.c_str());
    found[name] = here == nullptr ? Json(nullptr) : Json(here);
  }
  return found;
}

void add_samples(Json& line, const Quantities& declared, Experiment& experiment, const Samples& samples) {
  line["samples"] = Json::object();
  const auto names = experiment.quantities();
  for (std::size_t i = 0; i < names.size(); ++i) {
    add_values(line, declared, names[i], samples.values[i]);
  }
  if (!samples.armed.empty()) {
    add_values(line, declared, armed_quantity().name, samples.armed);
  }
  for (auto& distribution : experiment.distributions()) {
    add_values(line, declared, distribution.name, std::move(distribution.values));
  }
}

}  // namespace

Recorder::Recorder(const MpiProcess& mpi, const std::string& path, NetworkCounters at_start)
    : mpi_(mpi), counters_at_start_(std::move(at_start)), allowed_cpus_(workloads::allowed_cpus()) {
  mpi_.on_root<UsageError>([&] { file_.emplace(path); });
}

void Recorder::header(const RecordHeader& header) {
  declared_ = header.quantities;
  const Json ranks = gather_ranks({
      {"rank", mpi_.rank()},
      {"host", host_name()},
      {"pid", getpid()},
      {"cpus_allowed", allowed_cpus_},
      {"clock_resolution_s", measured_clock_resolution_s()},
      {"environment", environment_of_process(header.context)},
  });
  const Json body = {
      {"schema", 5},
      {"context", header.context},
      {"workload", {{"name", header.workload}, {"version", WORKLOADS_VERSION}}},
      {"quantities", describe_by_name(declared_)},
      {"arguments", header.arguments},
      {"mpi_library", MpiProcess::library()},
      {"thread_level", mpi_.thread_level()},
      {"world_size", mpi_.size()},
      {"ranks", ranks},
      {"start_time", utc_now()},
  };
  write({Json{{"header", body}}});
}

void Recorder::point(const Json& point, Experiment& experiment, const Samples& samples, const Noise& before) {
  energy_.update();
  cpus_observed_.insert(current_cpu());
  Json line = {{"point", point}, {"rank", mpi_.rank()}, {"role", experiment.role()}, {"status", "ok"}};
  add_samples(line, declared_, experiment, samples);
  line["warmup"] = samples.warmup;
  line["converged"] = samples.converged;
  line["noise"] = noise_between(before, read_noise(allowed_cpus_), allowed_cpus_);
  std::vector<Json> lines = gather_ranks(line);
  tell_others(lines);
  write(lines);
}

std::string Recorder::failed_point(const Json& point, const std::string& reason) {
  cpus_observed_.insert(current_cpu());
  std::string first;
  int rank = 0;
  for (const auto& text : mpi_.gather(reason)) {
    first = first.empty() && !text.empty() ? fmt::format("rank {}: {}", rank, text) : first;
    ++rank;
  }
  first = mpi_.broadcast(first);
  write({Json{{"point", point}, {"rank", 0}, {"status", "failed"}, {"reason", first}, {"samples", Json::object()}}});
  return first;
}

void Recorder::end(const std::string& status, const std::string& reason) {
  energy_.update();
  cpus_observed_.insert(current_cpu());
  std::vector<Json> ranks = gather_ranks({
      {"rank", mpi_.rank()},
      {"cpus_observed", cpus_observed_},
      {"interface_bytes", interface_bytes_between(counters_at_start_, read_network_counters())},
      {"engine", engine_report()},
      {"energy", energy_.report()},
  });
  count_machines_once(ranks);
  Json body = {{"status", status}};
  if (!reason.empty()) {
    body["reason"] = reason;
  }
  body["elapsed_s"] = seconds_since(begin_);
  body["ranks"] = ranks;
  write({Json{{"end", body}}});
}

void Recorder::write(const std::vector<Json>& lines) {
  mpi_.on_root<Failure>([&] {
    for (const auto& line : lines) {
      file_->write(line);
    }
  });
}

std::vector<Json> Recorder::gather_ranks(const Json& mine) const {
  std::vector<Json> ranks;
  for (const auto& text : mpi_.gather(to_line(mine))) {
    ranks.push_back(Json::parse(text));
  }
  return ranks;
}

}  // namespace workloads
