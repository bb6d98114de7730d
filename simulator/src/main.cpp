// SPDX-License-Identifier: BSD-3-Clause
// A launcher that starts nothing: it reads which workload it should start on how many ranks, and writes the record that
// a model of the MPI and the network predicts.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "common/errors.h"
#include "common/json.h"
#include "model.h"
#include "run.h"

namespace simulated {

// A launch's record, in the form of every workload's, but that each line of it comes from a simulation and says so.

/// What was simulated with: for the header.
struct Source {
  std::string platform;
  std::string model_file;
  Json files;  ///< the names of both, and the SHA-256 of what was read
  std::uint64_t draw = 0;
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  /// Seconds that the simulation has taken, not those that it simulated.
  [[nodiscard]] double elapsed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
};

/// All of it at once, when the simulation is over. `left_out`: points that cannot be simulated, and why.
void write_record(const Launched& launched, const Source& source, const Model& model, const Run* run, int ranks,
                  const std::vector<std::pair<const Pattern*, Json>>& points,
                  const std::vector<std::vector<Measured>>& results,
                  const std::vector<std::pair<Json, std::string>>& left_out);

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
               {"schema", 5},
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

namespace {

constexpr int usage_status = 2;
constexpr const char* own_thread = "SIMULATED_ASYNC_PROGRESS";  // set as an MPI's own variable would be

struct Options {
  std::string platform;
  std::string model;
  int ranks = 2;
  double unit = 0;
};

std::string name_of(const std::string& path) { return std::filesystem::path(path).filename().string(); }

/// `left_out`: those that have no model, and why.
std::vector<std::pair<const Pattern*, Json>> plan(const Launched& launched, const Pattern* pattern,
                                                  std::vector<std::pair<Json, std::string>>& left_out) {
  std::vector<std::pair<const Pattern*, Json>> points;
  if (launched.calibrate) {
    points.emplace_back(&calibration, Json{{"calibration", "unit"}});
    for (const auto size : launched.sizes) {
      points.emplace_back(&calibration, Json{{"calibration", "comm"}, {"size_bytes", size}});
    }
  }
  for (const auto& point : launched.points) {
    if (auto why = pattern->why_not == nullptr ? std::string() : pattern->why_not(point); !why.empty()) {
      left_out.emplace_back(point, std::move(why));
    } else {
      points.emplace_back(pattern, point);
    }
  }
  return points;
}

int simulate(const Options& options, const Launched& launched) {
  // Launches of the same repetition have the same draw, whatever their variant: what is compared has one model.
  const auto draw = launched.context.value("repetition", std::uint64_t{0});
  const auto model_text = text_of("--model", options.model);
  Model model = model_from_json(model_text, "--model " + options.model, draw);
  model.computation.unit = options.unit > 0 ? options.unit : model.computation.unit;
  model.computation.slow_down(launched.slowdown);
  model.settle = launched.settle;
  const Pattern* pattern = pattern_of(launched.program, launched.benchmark);
  std::string why = why_not(launched.variant, model);
  if (pattern == nullptr) {
    why = fmt::format("{} {} has no model, so it is not simulated", launched.program, launched.benchmark);
  }
  if (launched.context.value("variant", std::string()) == "limit") {
    why = "variant limit moves its messages without MPI, which is not simulated";
  }
  if (launched.points.empty() && !launched.calibrate) {
    throw workloads::UsageError("no point to simulate: give --points FILE or --point key=value,...");
  }
  const Source source{.platform = options.platform,
                      .model_file = options.model,
                      .files = {{name_of(options.platform), sha256(text_of("--platform", options.platform))},
                                {name_of(options.model), sha256(model_text)}},
                      .draw = draw};
  std::vector<std::pair<Json, std::string>> left_out;
  if (!why.empty()) {
    std::ranges::transform(launched.points, std::back_inserter(left_out),
                           [&](const Json& point) { return std::pair(point, why); });
    write_record(launched, source, model, nullptr, options.ranks, {}, {}, left_out);
    return EXIT_SUCCESS;
  }
  const auto points = plan(launched, pattern, left_out);
  for (const auto& [one, point] : points) {
    one->check(point, options.ranks);
  }
  Network network(options.platform);
  Run run(network, model, launched.variant, options.ranks);
  const auto results = run.points(points);
  write_record(launched, source, model, &run, options.ranks, points, results, left_out);
  return EXIT_SUCCESS;
}

int run(std::vector<std::string> words) {
  Options options;
  CLI::App parser{"Predicts what a workload would record on a platform and with an MPI that files describe.",
                  "simulate"};
  parser.footer(
      "Example: simulate --platform vcluster.xml --model mpich.json -n 1024 -- microbench overlap "
      "--point size_bytes=4194304,work_units=20000");
  parser.add_option("--platform", options.platform, "SimGrid's platform file (XML); each rank takes a host of it")
      ->required();
  parser.add_option("--model", options.model, "What is known of the MPI and the machine (JSON)")->required();
  parser.add_option("-n,--ranks", options.ranks, "How many ranks")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  parser
      .add_option("--unit-s", options.unit,
                  "Seconds of a unit of work, instead of the model's: each session measures its own")
      ->check(CLI::PositiveNumber);
  const auto border = std::ranges::find(words, "--");
  const std::vector<std::string> behind(border == words.end() ? border : border + 1, words.end());
  words.erase(border, words.end());
  std::ranges::reverse(words);
  try {
    parser.parse(words);
    return simulate(options, read_command(behind, std::getenv(own_thread) != nullptr));
  } catch (const CLI::Success& help) {
    return parser.exit(help);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "simulate: {}\n", error.what());
  } catch (const workloads::UsageError& error) {
    fmt::print(stderr, "simulate: {}\n", error.what());
  } catch (const std::exception& error) {
    fmt::print(stderr, "simulate: {}\n", error.what());
    return EXIT_FAILURE;
  }
  return usage_status;
}

/// Under another name it stands where a check looks for the engine's tool or a workload: it says what it would do.
int stand_in(const std::string& name, const std::vector<std::string>& words) {
  std::string sentence = "this is a name of the simulator: ./bench run STUDY --system simulated predicts";
  if (name == "progress-run") {
    Model any;
    any.async.exists = true;
    any.async.slice = 1;
    try {
      std::vector<std::string> command{name};
      command.insert(command.end(), words.begin(), words.end());
      command.emplace_back("any benchmark");  // only the variant matters
      sentence = why_not(read_command(command, false).variant, any);
    } catch (const workloads::UsageError& error) {
      sentence = error.what();
    }
  }
  if (!sentence.empty()) {
    fmt::print(stderr, "{}: {}\n", name, sentence);
  }
  return sentence.empty() ? EXIT_SUCCESS : usage_status;
}

}  // namespace
}  // namespace simulated

int main(int argc, char** argv) {
  const auto name = std::filesystem::path(argv[0]).filename().string();
  const std::vector<std::string> words(argv + 1, argv + argc);
  return name == "simulate" ? simulated::run(words) : simulated::stand_in(name, words);
}
