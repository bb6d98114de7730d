// SPDX-License-Identifier: BSD-3-Clause
// A launch from its command line to its record; the same for every workload.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>

#include "common/clock.h"
#include "common/errors.h"
#include "common/experiment.h"
#include "common/fixed_work.h"
#include "common/machine.h"
#include "common/recorder.h"
#include "common/sampler.h"
#include "common/stop_rule.h"

namespace workloads {
namespace {

/// The options that every workload has.
struct LaunchOptions {
  std::string points_file;
  std::vector<std::string> points;  ///< key=value,... each
  std::string context_file;
  std::string output;
  SamplerOptions sampler;
  std::string thread_level = "single";
  double slowdown = 1.0;
  /// A rate limiter lets the first bytes after a pause pass at once. With a pause before each timed transfer, as long
  /// as its bucket takes to fill, every transfer finds the network in the same state.
  double settle_s = 0;
};

/// A point with the benchmark that measures it.
struct PlannedPoint {
  const Benchmark* benchmark;
  Json point;
};

struct Launch {
  std::string workload;
  Quantities quantities;  ///< of all that its points are measured by
  std::vector<std::string> arguments;
  LaunchOptions options;
  NetworkCounters counters_at_start;
};

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
  command.add_flag("--on-off", sampler.on_off,
                   "Pause the engine in one of each two repetitions, in random order; until the time box ends");
}

/// Adds them to a command; `options` must outlive the parsing.
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

constexpr int usage_status = 2;

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// The file's text; UsageError with the system's reason if it cannot be read (streams do not tell one).
std::string read_file(const std::string& option, const std::string& path) {
  constexpr std::size_t block = 65536;
  const File file(std::fopen(path.c_str(), "rb"), std::fclose);
  std::string text;
  std::size_t got = file ? block : 0;
  while (got == block) {
    text.resize(text.size() + block);
    got = std::fread(text.data() + text.size() - block, 1, block, file.get());
    text.resize(text.size() - block + got);
  }
  if (!file || std::ferror(file.get()) != 0) {
    throw UsageError(fmt::format("{} {}: cannot be read: {}", option, path, std::strerror(errno)));
  }
  return text;
}

/// Rank 0 reads, everybody has the text: the file need not be on every node.
std::string read_shared(const MpiProcess& mpi, const std::string& option, const std::string& path) {
  std::string text;
  mpi.on_root<UsageError>([&] { text = read_file(option, path); });
  return mpi.broadcast(text);
}

void check_all(const MpiProcess& mpi, const std::vector<PlannedPoint>& points) {
  const auto provided = mpi.thread_level()["provided"].get<std::string>();
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto& [benchmark, point] = points[i];
    if (time_is_simulated && !can_sleep(benchmark->parameters)) {
      throw UsageError(
          fmt::format("{} computes, which would take no time in SMPI: a benchmark that can sleep instead is wanted",
                      benchmark->name));
    }
    check_point(point, benchmark->parameters, fmt::format("point {}", i + 1));
    benchmark->check(point, mpi.size());
    if (higher_thread_level(provided, benchmark->thread_level) != provided) {
      throw UsageError(fmt::format("{} needs the thread level {}, and this MPI provides {} only", benchmark->name,
                                   benchmark->thread_level, provided));
    }
  }
}

/// Everybody has its memory, or nobody goes on.
std::unique_ptr<Experiment> prepare(const MpiProcess& mpi, const Launch& launch, const PlannedPoint& planned) {
  std::unique_ptr<Experiment> experiment;
  try {
    experiment = planned.benchmark->prepare(
        {.mpi = mpi, .point = planned.point, .slowdown = launch.options.slowdown, .settle_s = launch.options.settle_s});
  } catch (const std::bad_alloc&) {
    experiment.reset();
  }
  const bool missing = mpi.maximum(experiment ? 0 : 1) != 0;
  return missing ? nullptr : std::move(experiment);
}

/// A point that failed is told at once: nobody should have to look into the record to learn it.
void report_failure(const MpiProcess& mpi, Recorder& recorder, const Json& point, const std::string& reason) {
  const auto agreed = recorder.failed_point(point, reason);
  if (mpi.is_root()) {
    fmt::print(stderr, "point {} failed: {}\n", to_line(point), agreed);
  }
}

Decision measure(const MpiProcess& mpi, const Launch& launch, const PlannedPoint& planned, Recorder& recorder) {
  const auto experiment = prepare(mpi, launch, planned);
  if (!experiment) {
    report_failure(mpi, recorder, planned.point, "there is not enough memory for this point");
    return Decision::failed;
  }
  const auto before = read_noise(recorder.allowed_cpus());
  const auto samples = collect(mpi, *experiment, launch.options.sampler);
  if (samples.end == Decision::failed) {
    report_failure(mpi, recorder, planned.point, samples.problem);
  } else if (samples.end != Decision::interrupted) {
    recorder.point(planned.point, *experiment, samples, before);
  }
  return samples.end;
}

/// The points that the options name: --points first, then --point. Reads on rank 0 and shares. UsageError on all ranks.
std::vector<Json> read_points(const MpiProcess& mpi, const LaunchOptions& options) {
  std::vector<Json> points;
  if (!options.points_file.empty()) {
    const auto text = read_shared(mpi, "--points", options.points_file);
    points = points_from_json(text, "--points " + options.points_file);
  }
  for (const auto& text : options.points) {
    points.push_back(point_from_text(text));
  }
  return points;
}

/// Checks everything, then measures point by point and records. A failed point does not stop those after it.
/// Returns the exit status (0 all ok, 1 something failed or was interrupted). UsageError, Failure on all ranks.
int run_launch(const MpiProcess& mpi, const Launch& launch, const std::vector<PlannedPoint>& points) {
  if (points.empty()) {
    throw UsageError("no point to measure: give --points FILE or --point key=value,...");
  }
  check_all(mpi, points);
  if (launch.options.sampler.on_off) {
    require_engine_to_pause(mpi);
  }
  Json context = Json::object();
  if (const auto& file = launch.options.context_file; !file.empty()) {
    context = object_from_json(read_shared(mpi, "--context", file), "--context " + file);
  }
  if (time_is_simulated && !context.contains("simulated")) {  // also by hand no record passes for a measured one
    context["simulated"] = Json::object();
  }
  watch_for_interruption();
  Recorder recorder(mpi, launch.options.output, launch.counters_at_start);
  recorder.header({
      .workload = launch.workload,
      .quantities = launch.quantities,
      .context = context,
      .arguments = launch.arguments,
  });
  std::size_t failed = 0;
  for (const auto& planned : points) {
    const Decision end = measure(mpi, launch, planned, recorder);
    if (end == Decision::interrupted) {
      recorder.end("interrupted", "a signal asked to stop");
      return EXIT_FAILURE;
    }
    failed += end == Decision::failed ? 1 : 0;
  }
  recorder.end(failed == 0 ? "ok" : "failed", failed == 0 ? "" : fmt::format("{} of {} points", failed, points.size()));
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/// Makes the MPI process and calls `body` with it. Errors become one sentence of rank 0 and the exit status.
int run_with_mpi(const std::string& program, const std::string& level,
                 const std::function<int(const MpiProcess&)>& body) {
  const MpiProcess mpi(level);
  const auto say = [&](const char* sentence) {
    if (mpi.is_root()) {
      fmt::print(stderr, "{}: {}\n", program, sentence);
    }
  };
  try {
    return body(mpi);
  } catch (const UsageError& error) {
    say(error.what());
    return usage_status;
  } catch (const Failure& error) {
    say(error.what());
    return EXIT_FAILURE;
  } catch (const std::exception& error) {  // of this rank alone: the others may wait for it
    abort_all(fmt::format("{}: {} (rank {})", program, error.what(), mpi.rank()));
  }
}

struct Command {
  const Benchmark* benchmark = nullptr;
  CLI::App* parser = nullptr;
  LaunchOptions options;
  bool list_parameters = false;
  bool calibrate = false;
  std::vector<std::int64_t> sizes;
};

struct CommandLine {
  const Program& program;
  bool list = false;
  std::deque<Command> commands;  // a deque: the parser keeps pointers into them
};

void add_calibration(Command& command) {
  auto* calibrate = command.parser->add_flag("--calibrate", command.calibrate,
                                             "Measure one unit of work, and each --size alone, instead of points");
  command.parser->add_option("--size", command.sizes, "Message sizes to calibrate: BYTES,BYTES,...")
      ->delimiter(',')
      ->check(CLI::Range(std::int64_t{0}, largest_message))
      ->needs(calibrate);
}

void add_command(CLI::App& parser, const Benchmark& benchmark, CommandLine& line) {
  Command& command = line.commands.emplace_back();
  command.benchmark = &benchmark;
  command.parser = parser.add_subcommand(benchmark.name, benchmark.question);
  command.parser->footer(line.program.example);
  command.parser->add_flag("--list-parameters", command.list_parameters,
                           "Print the parameters of a point and the quantities recorded as JSON and end");
  if (benchmark.calibration != nullptr) {
    add_calibration(command);
  }
  add_launch_options(*command.parser, command.options);
}

void describe(CLI::App& parser, CommandLine& line) {
  parser.footer(line.program.example);
  parser.add_flag("--list", line.list, "List the benchmarks and end");
  for (const Benchmark* benchmark : line.program.benchmarks) {
    add_command(parser, *benchmark, line);
  }
}

/// Null if none was named.
const Command* chosen(const CommandLine& line) {
  for (const Command& command : line.commands) {
    if (command.parser->parsed()) {
      return &command;
    }
  }
  return nullptr;
}

std::vector<PlannedPoint> plan(const MpiProcess& mpi, const Command& command) {
  std::vector<PlannedPoint> points;
  if (command.calibrate) {
    const Benchmark* calibration = command.benchmark->calibration;
    points.push_back({.benchmark = calibration, .point = {{"calibration", "unit"}}});
    for (const auto size : command.sizes) {
      points.push_back({.benchmark = calibration, .point = {{"calibration", "comm"}, {"size_bytes", size}}});
    }
  }
  for (const auto& point : read_points(mpi, command.options)) {
    points.push_back({.benchmark = command.benchmark, .point = point});
  }
  return points;
}

void print_list(const CommandLine& line) {
  for (const Command& command : line.commands) {
    fmt::print("{:<18} {}\n", command.benchmark->name, command.benchmark->question);
  }
}

/// Prints what needs no MPI. True if that was all.
bool only_lists(const CommandLine& line) {
  if (line.list) {
    print_list(line);
    return true;
  }
  const Command* command = chosen(line);
  if (command == nullptr || !command->list_parameters) {
    return false;
  }
  const Json tables = {
      {"parameters", workloads::describe(command->benchmark->parameters)},
      {"quantities", workloads::describe(command->benchmark->quantities)},
  };
  fmt::print("{}\n", tables.dump(2));
  return true;
}

int measure(const MpiProcess& mpi, const Command& command, Launch launch) {
  launch.workload = command.benchmark->name;
  launch.quantities = command.calibrate
                          ? joined(command.benchmark->quantities, command.benchmark->calibration->quantities)
                          : command.benchmark->quantities;
  if (command.options.sampler.on_off) {
    launch.quantities.push_back(armed_quantity());
  }
  launch.options = command.options;
  return run_launch(mpi, launch, plan(mpi, command));
}

}  // namespace

int run_program(const Program& program, int argc, char** argv) {
  Launch launch;
  launch.counters_at_start = read_network_counters();
  launch.arguments.assign(argv + 1, argv + argc);
  CLI::App parser{program.purpose, program.name};
  CommandLine line{.program = program, .list = false, .commands = {}};
  describe(parser, line);
  std::optional<std::string> problem;
  try {
    parser.parse(
        std::vector<std::string>(launch.arguments.rbegin(), launch.arguments.rend()));  // it wants the last first
    if (only_lists(line)) {
      return EXIT_SUCCESS;
    }
  } catch (const CLI::Success& help) {
    return parser.exit(help);
  } catch (const CLI::ParseError& error) {
    problem = error.what();
  }
  // Every rank has read the same bad arguments, and only MPI knows which of them is to say so.
  const Command* command = chosen(line);
  const auto level = command == nullptr
                         ? "single"
                         : higher_thread_level(command->options.thread_level, command->benchmark->thread_level);
  return run_with_mpi(program.name, level, [&](const MpiProcess& mpi) {
    if (problem) {
      throw UsageError(*problem);
    }
    if (command == nullptr) {
      throw UsageError(fmt::format("no benchmark is named: {} --list shows them", program.name));
    }
    return measure(mpi, *command, launch);
  });
}

}  // namespace workloads
