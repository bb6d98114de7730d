// SPDX-License-Identifier: BSD-3-Clause
#include "minife/solver.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>

#include "common/errors.h"
#include "common/machine.h"
#include "common/mpi_process.h"
#include "minife/problem.h"

namespace workloads::minife {
namespace {

constexpr std::size_t of_every_way = 6;  // quantities, before those of the calls

std::string_view name_of(Call call) { return call_names[static_cast<std::size_t>(call)]; }

std::array<double, traffic_names.size()> numbers(const Traffic& traffic) {
  return {static_cast<double>(traffic.packets_in), static_cast<double>(traffic.packets_out),
          static_cast<double>(traffic.bytes_in), static_cast<double>(traffic.bytes_out)};
}

class Solver final : public Experiment {
 public:
  Solver(const Preparation& preparation, const Parameters& parameters, Way way)
      : mpi_(preparation.mpi),
        way_(std::move(way)),
        slowdown_(preparation.slowdown),
        settle_s_(preparation.settle_s),
        nodes_(nodes_of(preparation.point, parameters)),
        boxes_(bisect(nodes_, preparation.mpi.size())),
        mine_(boxes_[static_cast<std::size_t>(preparation.mpi.rank())]),
        matrix_(nodes_, mine_),
        exact_(nodes_, mine_),
        product_(way_.product({.matrix = matrix_,
                               .rank = preparation.mpi.rank(),
                               .neighbours = neighbours_of(boxes_, preparation.mpi.rank()),
                               .without_neighbours = without_neighbours(mine_, nodes_)})),
        solver_(matrix_, *product_, way_.reductions,
                static_cast<int>(integer_of(preparation.point, parameters, "iterations"))) {
    choose_quantities();
  }

  [[nodiscard]] std::string role() const override { return way_.role; }

  [[nodiscard]] std::vector<std::string_view> quantities() const override { return names_; }

  std::string repeat(std::span<double> values) override {
    if (way_.packets && std::exchange(connections_unknown_, false)) {
      if (auto problem = find_connections(); !problem.empty()) {
        return problem;
      }
    }
    spin_for(settle_s_);
    timed_barrier();
    Calls calls(way_.packets ? &connections_ : nullptr, slowdown_);
    const Usage before = read_usage();
    const auto begin = Clock::now();
    solve(calls);
    const double elapsed_s = seconds_since(begin);
    const double cpu_s = (read_usage() - before).cpu_s;
    std::string problem = verify();
    std::vector<double> measured{elapsed_s,
                                 elapsed_s - calls.seconds(),
                                 calls.seconds(),
                                 cpu_s,
                                 static_cast<double>(solver_.iterations()),
                                 solver_.true_residual()};
    for (const Call call : way_.calls) {
      measured.push_back(calls.seconds(call));
    }
    if (way_.packets) {
      for (const Call call : way_.calls) {
        std::ranges::copy(numbers(calls.traffic(call)), std::back_inserter(measured));
      }
      std::ranges::copy(numbers(calls.outside()), std::back_inserter(measured));
    }
    std::ranges::copy(measured, values.begin());
    return problem;
  }

 private:
  void choose_quantities() {
    const auto all = names_of(solver_quantities());
    const auto add = [&](std::string_view of, std::string_view kind) {
      names_.push_back(*std::ranges::find(all, fmt::format("{}_{}", of, kind)));
    };
    names_.assign(all.begin(), all.begin() + of_every_way);
    for (const Call call : way_.calls) {
      names_.push_back(seconds_of(call));
    }
    std::vector<std::string_view> counted;
    if (way_.packets) {
      std::ranges::transform(way_.calls, std::back_inserter(counted), name_of);
      counted.emplace_back("outside");
    }
    for (const auto of : counted) {
      std::ranges::for_each(traffic_names, [&](std::string_view kind) { add(of, kind); });
    }
  }

  /// In the thread that this way solves in.
  void inside(const std::function<void()>& action) const {
    if (way_.inside) {
      way_.inside(action);
    } else {
      action();
    }
  }

  void solve(Calls& calls) {
    inside([&] { solver_.solve(calls); });
  }

  std::string verify() {
    std::string problem;
    inside([&] { problem = solver_.verify(nodes_, exact_); });
    return problem;
  }

  /// Connections are made when they are first used: a solve that is not measured uses them all.
  std::string find_connections() {
    Calls unmeasured(nullptr, 1);
    solve(unmeasured);
    if (auto problem = verify(); !problem.empty()) {
      return problem;
    }
    connections_.find();
    return mpi_.maximum(static_cast<int>(connections_.count())) > 0
               ? std::string()
               : "packets = true: no rank has a TCP connection whose packets could be counted: run it where the "
                 "MPI uses TCP";
  }

  const MpiProcess& mpi_;
  Way way_;
  double slowdown_;
  double settle_s_;
  Triple nodes_;
  std::vector<Box> boxes_;
  Box mine_;
  Matrix matrix_;
  Exact exact_;
  std::unique_ptr<Product> product_;
  ConjugateGradient solver_;
  TcpConnections connections_;
  bool connections_unknown_ = true;
  std::vector<std::string_view> names_;
};

}  // namespace

void check_problem(const Json& point, const Parameters& parameters, int ranks, Reductions reductions) {
  const Triple nodes = nodes_of(point, parameters);
  double most = 0;  // nodes of a rank, with those of its neighbours
  for (const Box& box : bisect(nodes, ranks)) {
    most = std::max(most, (box.size(0) + 2.0) * (box.size(1) + 2.0) * (box.size(2) + 2.0));
  }
  const auto grid = fmt::format("{} x {} x {} elements", nodes[2] - 1, nodes[1] - 1, nodes[0] - 1);
  if (most > std::numeric_limits<std::int32_t>::max()) {
    throw UsageError(fmt::format(
        "{} are {:.0f} nodes on a rank, more than its columns can be numbered: start more ranks", grid, most));
  }
  require_memory(grid, most * (Matrix::bytes_of_a_row + (vectors_of(reductions) * sizeof(double))));
}

std::unique_ptr<Experiment> solver(const Preparation& preparation, const Parameters& parameters, Way way) {
  return std::make_unique<Solver>(preparation, parameters, std::move(way));
}

}  // namespace workloads::minife
