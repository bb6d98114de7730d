// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "common/errors.h"
#include "common/experiment.h"
#include "common/parameters.h"
#include "run.h"

namespace simulated {
namespace {

using workloads::UsageError;
using Words = std::vector<std::string>;

void parse(CLI::App& parser, Words words) {
  std::ranges::reverse(words);  // it wants the last first
  try {
    parser.parse(words);
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("{}: {}", parser.get_name(), error.what()));
  }
}

/// What stands before the workload; leaves the rest in `words`.
Variant read_engine(Words& words) {
  const auto end = std::ranges::find(words, "--");
  if (end == words.end()) {
    throw UsageError("progress-run: -- and a program are wanted behind its options");
  }
  std::string preset;
  std::vector<std::string> settings;
  CLI::App parser{"", "progress-run"};
  parser.add_option("--variant", preset)->required();
  parser.add_option("--set", settings)->allow_extra_args(false)->take_all();
  parse(parser, Words(words.begin() + 1, end));
  words.erase(words.begin(), end + 1);
  std::map<std::string, std::string> values;
  for (const auto& setting : settings) {
    const auto equals = setting.find('=');
    if (equals == std::string::npos) {
      throw UsageError(fmt::format("--set {}: key=value is wanted", setting));
    }
    values[setting.substr(0, equals)] = setting.substr(equals + 1);
  }
  return variant_of(preset, values);
}

}  // namespace

std::string text_of(const std::string& option, const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) {
    throw UsageError(fmt::format("{} {}: cannot be read", option, path));
  }
  return text.str();
}

Launched read_command(const Words& all, bool own_thread) {
  Words words = all;
  const auto name = [&] { return std::filesystem::path(words.front()).filename().string(); };
  Launched launched;
  launched.variant = variant_of(own_thread ? "mpi-async" : "bare", {});
  if (!words.empty() && name() == "progress-run") {
    launched.variant = read_engine(words);
  }
  if (words.size() < 2) {
    throw UsageError("a workload and its benchmark are wanted behind --, as in -- microbench overlap --point ...");
  }
  launched.program = name();
  launched.benchmark = words[1];
  launched.arguments.assign(words.begin() + 1, words.end());
  std::string points_file;
  std::string context_file;
  std::vector<std::string> points;
  CLI::App parser{"", launched.program};
  parser.add_option("--points", points_file);
  parser.add_option("--point", points)->take_all()->allow_extra_args(false);
  parser.add_option("--context", context_file);
  parser.add_option("--output", launched.output);
  parser.add_option("--inject-slowdown", launched.slowdown)->check(CLI::Range(0.0, workloads::largest_slowdown));
  parser.add_option("--settle-s", launched.settle)->check(CLI::Range(0.0, workloads::longest_pause));
  parser.add_flag("--calibrate", launched.calibrate);
  parser.add_option("--size", launched.sizes)->delimiter(',');
  // Of a simulation every repetition is alike, and no thread level is asked for.
  std::string unused;
  for (const char* option :
       {"--min-samples", "--max-samples", "--warmup", "--time-box-s", "--relative-width", "--thread-level"}) {
    parser.add_option(option, unused);
  }
  parse(parser, Words(words.begin() + 2, words.end()));
  if (!points_file.empty()) {
    launched.points = workloads::points_from_json(text_of("--points", points_file), "--points " + points_file);
  }
  for (const auto& text : points) {
    launched.points.push_back(workloads::point_from_text(text));
  }
  if (!context_file.empty()) {
    launched.context = workloads::object_from_json(text_of("--context", context_file), "--context " + context_file);
  }
  return launched;
}

}  // namespace simulated
