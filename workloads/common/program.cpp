// SPDX-License-Identifier: BSD-3-Clause
#include "common/program.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <deque>
#include <optional>

#include "common/errors.h"
#include "common/launch.h"

namespace workloads {
namespace {

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
