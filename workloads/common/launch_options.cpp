// SPDX-License-Identifier: BSD-3-Clause
#include "common/launch_options.h"

#include <CLI/CLI.hpp>

namespace workloads {
namespace {

constexpr double most_seconds = 86'400;
constexpr int most_repetitions = 100'000'000;

void add_sampler_options(CLI::App& command, SamplerOptions& sampler) {
  const auto positive = CLI::Range(1, most_repetitions);
  command.add_option("--min-samples", sampler.min_samples, "Repetitions at least, unless the time box ends before")
      ->check(positive)
      ->capture_default_str();
  command.add_option("--max-samples", sampler.max_samples, "Repetitions at most")
      ->check(positive)
      ->capture_default_str();
  command.add_option("--warmup", sampler.warmup, "Repetitions discarded, in at most a quarter of the time box")
      ->check(CLI::Range(0, most_repetitions))
      ->capture_default_str();
  command.add_option("--time-box-s", sampler.time_box_s, "Seconds for each point")
      ->check(CLI::Range(0.0, most_seconds))
      ->capture_default_str();
  command
      .add_option("--relative-width", sampler.relative_width,
                  "Enough when the 95 % interval of the median is this narrow, relative to the median")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
}

}  // namespace

void add_launch_options(CLI::App& command, LaunchOptions& options) {
  command.add_option("--points", options.points_file, "JSON file: an array of points, objects of parameters");
  command.add_option("--point", options.points, "A point by hand: key=value,key=value (repeatable)")
      ->take_all()
      ->allow_extra_args(false);
  command.add_option("--context", options.context_file, "JSON file: an object, copied into the record's header");
  command.add_option("--output", options.output, "Record file, written by rank 0 (default: standard output)");
  add_sampler_options(command, options.sampler);
  command.add_option("--thread-level", options.thread_level, "What MPI_Init_thread is asked for")
      ->check(CLI::IsMember(thread_level_names()))
      ->capture_default_str();
  command.add_option("--settle-s", options.settle_s, "Seconds of pause before each timed transfer")
      ->check(CLI::Range(0.0, longest_pause))
      ->capture_default_str();
  command.add_option("--inject-slowdown", options.slowdown, "Factor on all computation")
      ->check(CLI::Range(0.0, largest_slowdown))
      ->group("");  // hidden: it makes wrong results, so that tests can see them found
}

}  // namespace workloads
