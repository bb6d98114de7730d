// SPDX-License-Identifier: BSD-3-Clause
#include "minife/problem.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/errors.h"

namespace workloads::minife {
namespace {

constexpr int default_edge = 32;

void add_traffic(Quantities& table, std::string_view of) {
  for (const auto kind : traffic_names) {
    table.push_back({.name = fmt::format("{}_{}", of, kind),
                     .unit = kind.starts_with("packets") ? "packets" : "bytes",
                     .better = Better::neither});
  }
}

}  // namespace

Parameters problem_parameters() {
  constexpr int most_edge = 4096;
  constexpr int most_iterations = 10'000;
  constexpr int iterations_of_minife = 200;
  const auto elements = [](const char* name, const char* meaning) {
    return Parameter{.name = name,
                     .domain = IntegerRange{.minimum = 2, .maximum = most_edge},
                     .unit = "elements",
                     .meaning = meaning,
                     .default_value = default_edge};
  };
  return {
      elements("nx", "elements along x, the axis that is contiguous in memory"),
      elements("ny", "elements along y"),
      elements("nz", "elements along z, which is halved first"),
      {
          .name = "iterations",
          .domain = IntegerRange{.minimum = 1, .maximum = most_iterations},
          .unit = "iterations",
          .meaning = "at most; fewer if the residual is 1e-10 of the first one before",
          .default_value = iterations_of_minife,
      },
  };
}

const Parameters& solve_parameters() {
  static const Parameters table = [] {
    auto parameters = problem_parameters();
    parameters.push_back({
        .name = "mode",
        .domain = Choices(mode_names.begin(), mode_names.end()),
        .unit = "",
        .meaning = "MPI_Send and MPI_Allreduce; the halo beside the rows that do not need it; or both, with one "
                   "MPI_Iallreduce an iteration beside the product",
        .default_value = "blocking",
    });
    parameters.push_back({
        .name = "barrier",
        .domain = Flag{},
        .unit = "",
        .meaning = "MPI_Barrier before each MPI_Allreduce, so that waiting for those who come late is timed apart from "
                   "the reduction (not in mode pipelined)",
        .default_value = false,
    });
    parameters.push_back({
        .name = "packets",
        .domain = Flag{},
        .unit = "",
        .meaning =
            "count the packets of each call, by TCP_INFO of all connections, which takes some microseconds a call",
        .default_value = false,
    });
    return parameters;
  }();
  return table;
}

Mode mode_of(const Json& point) {
  const auto name = choice_of(point, solve_parameters(), "mode");
  return static_cast<Mode>(std::ranges::find(mode_names, name) - mode_names.begin());
}

Reductions reductions_of(const Json& point) {
  const Reductions reductions{.pipelined = mode_of(point) == Mode::pipelined,
                              .barrier_first = flag_of(point, solve_parameters(), "barrier")};
  if (reductions.pipelined && reductions.barrier_first) {
    throw UsageError("barrier = true: mode pipelined has no blocking reduction that a barrier could stand before");
  }
  return reductions;
}

std::vector<Call> calls_of(Reductions reductions) {
  std::vector<Call> calls{Call::irecv, Call::send, Call::wait, Call::allreduce};
  if (reductions.pipelined) {
    calls.push_back(Call::allreduce_wait);
  }
  if (reductions.barrier_first) {
    calls.push_back(Call::barrier);
  }
  return calls;
}

Triple nodes_of(const Json& point, const Parameters& parameters) {
  const auto nodes = [&](std::string_view name) { return static_cast<int>(integer_of(point, parameters, name)) + 1; };
  return {nodes("nz"), nodes("ny"), nodes("nx")};
}

const Quantities& solver_quantities() {
  static const Quantities table = [] {
    Quantities quantities{
        leading(seconds("elapsed_s")),
        seconds("comp_s"),
        seconds("comm_s"),
        seconds("cpu_s"),
        {.name = "iterations", .unit = "iterations", .better = Better::neither},
        {.name = "true_residual", .unit = "1", .better = Better::neither},
    };
    for (const auto name : call_names) {
      quantities.push_back(seconds(fmt::format("{}_s", name)));
    }
    for (const auto name : call_names) {
      add_traffic(quantities, name);
    }
    add_traffic(quantities, "outside");
    return quantities;
  }();
  return table;
}

std::string_view seconds_of(Call call) {
  const auto name = fmt::format("{}_s", call_names[static_cast<std::size_t>(call)]);
  return std::ranges::find(solver_quantities(), name, &Quantity::name)->name;
}

}  // namespace workloads::minife
