// SPDX-License-Identifier: BSD-3-Clause
// microbench BENCHMARK: one driver for all microbenchmarks.
#include <fmt/format.h>

#include <deque>
#include <optional>

#include "common/errors.h"
#include "common/launch.h"
#include "microbench/benchmarks.h"

namespace {

using workloads::Benchmark;
using workloads::Json;

struct Command {
  const Benchmark* benchmark = nullptr;
  CLI::App* parser = nullptr;
  workloads::LaunchOptions options;
  bool list_parameters = false;
  bool calibrate = false;
  std::vector<std::int64_t> sizes;
};

struct CommandLine {
  bool list = false;
  std::deque<Command> commands;  // a deque: the parser keeps pointers into them
};

constexpr const char* example =
    "Example: mpiexec -n 2 microbench overlap --point size_bytes=4194304,work_units=1000,pattern=both";

void add_command(CLI::App& parser, const Benchmark& benchmark, CommandLine& line) {
  Command& command = line.commands.emplace_back();
  command.benchmark = &benchmark;
  command.parser = parser.add_subcommand(benchmark.name, benchmark.question);
  command.parser->footer(example);
  command.parser->add_flag("--list-parameters", command.list_parameters,
                           "Print the parameters of a point as JSON and end");
  auto* calibrate = command.parser->add_flag("--calibrate", command.calibrate,
                                             "Measure one unit of work, and each --size alone, instead of points");
  command.parser->add_option("--size", command.sizes, "Message sizes to calibrate: BYTES,BYTES,...")
      ->delimiter(',')
      ->check(CLI::Range(std::int64_t{0}, workloads::largest_message))
      ->needs(calibrate);
  workloads::add_launch_options(*command.parser, command.options);
}

void describe(CLI::App& parser, CommandLine& line) {
  parser.footer(example);
  parser.add_flag("--list", line.list, "List the benchmarks and end");
  for (const Benchmark* benchmark : workloads::benchmarks()) {
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

std::vector<workloads::PlannedPoint> plan(const workloads::MpiProcess& mpi, const Command& command) {
  std::vector<workloads::PlannedPoint> points;
  if (command.calibrate) {
    const Benchmark* calibration = &workloads::calibration_benchmark();
    points.push_back({.benchmark = calibration, .point = {{"calibration", "unit"}}});
    for (const auto size : command.sizes) {
      points.push_back({.benchmark = calibration, .point = {{"calibration", "comm"}, {"size_bytes", size}}});
    }
  }
  for (const auto& point : workloads::read_points(mpi, command.options)) {
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
  fmt::print("{}\n", workloads::describe(command->benchmark->parameters).dump(2));
  return true;
}

std::string thread_level_of(const Command& command) {
  return workloads::higher_thread_level(command.options.thread_level, command.benchmark->thread_level);
}

int measure(const workloads::MpiProcess& mpi, const Command& command, workloads::Launch launch) {
  launch.workload = command.benchmark->name;
  launch.options = command.options;
  return workloads::run_launch(mpi, launch, plan(mpi, command));
}

int run(int argc, char** argv) {
  workloads::Launch launch;
  launch.counters_at_start = workloads::read_network_counters();
  launch.arguments.assign(argv + 1, argv + argc);
  CLI::App parser{"Microbenchmarks of communication that should progress while the program computes.", "microbench"};
  CommandLine line;
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
  const auto level = command == nullptr ? "single" : thread_level_of(*command);
  return workloads::run_with_mpi("microbench", level, [&](const workloads::MpiProcess& mpi) {
    if (problem) {
      throw workloads::UsageError(*problem);
    }
    if (command == nullptr) {
      throw workloads::UsageError("no benchmark is named: microbench --list shows them");
    }
    return measure(mpi, *command, launch);
  });
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv); }
