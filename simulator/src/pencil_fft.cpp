// SPDX-License-Identifier: BSD-3-Clause
// Fourier transforms of fields cut into pencils, as workloads/pencil_fft/pencil_fft.cpp makes them.

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/kernel.h"
#include "overlap_point.h"
#include "pencil_fft/problem.h"

namespace simulated {
namespace {

using workloads::Span;
using workloads::pencil_fft::Complex;
using workloads::pencil_fft::Direction;
using workloads::pencil_fft::Group;
using workloads::pencil_fft::Pencils;
using workloads::pencil_fft::Route;
using workloads::pencil_fft::Side;

/// As workloads::pencil_fft::operations_of() counts them: of `rows` transforms of `points`.
double operations(int points, double rows) {
  constexpr double of_a_point = 5;
  return of_a_point * points * std::log2(points) * rows;
}

/// Writes the steps of one stage down.
class Written final : public workloads::pencil_fft::Steps {
 public:
  Written(const Route& route, FftRates rates, const std::vector<double>& own, std::vector<StageStep>& steps)
      : route_(route), rates_(rates), own_(own), steps_(steps) {}

  void along_x(Direction /*direction*/, Span planes) override {
    const double rows = 1.0 * planes.size() * pencils().y_along_x.size();
    transform(operations(pencils().field.points[0], rows) * (pencils().field.real ? 0.5 : 1));
  }
  void along_y(Direction /*direction*/, Span planes, Span columns) override {
    transform(operations(pencils().field.points[1], 1.0 * planes.size() * columns.size()));
  }
  void along_z(Direction /*direction*/, Span columns) override {
    transform(operations(pencils().field.points[2], 1.0 * columns.size() * pencils().y_along_z.size()));
  }
  void along_x_and_y(Direction direction) override {
    const Span all{.begin = 0, .end = pencils().z.size()};
    along_x(direction, all);
    along_y(direction, all, {.begin = 0, .end = pencils().x.size()});
  }

  void pack(Side side, Span chunk) override { copy(values_of(side, chunk)); }
  void unpack(Side side, Span chunk) override { copy(values_of(side, chunk)); }

  void start(Group group, int chunk, bool back) override {
    steps_.push_back({.kind = StageStep::Kind::start, .exchange = place_of(group, chunk), .back = back});
    copy(own_[place_of(group, chunk)]);
  }
  void finish(Group group, int chunk) override {
    steps_.push_back({.kind = StageStep::Kind::finish, .exchange = place_of(group, chunk)});
  }

 private:
  [[nodiscard]] const Pencils& pencils() const { return route_.pencils(); }
  [[nodiscard]] std::size_t place_of(Group group, int chunk) const {
    return static_cast<std::size_t>(chunk) + (group == Group::row ? 0U : static_cast<std::size_t>(route_.cut().chunks));
  }
  [[nodiscard]] double values_of(Side side, Span chunk) const {
    switch (side) {
      case Side::x:
        return 1.0 * chunk.size() * pencils().y_along_x.size() * pencils().field.width();
      case Side::y_in_row:
        return 1.0 * chunk.size() * pencils().field.points[1] * pencils().x.size();
      case Side::y_in_column:
        break;
    }
    return 1.0 * chunk.size() * pencils().field.points[1] * pencils().z.size();
  }

  void transform(double count) { compute(count * rates_.operation); }
  void copy(double values) { compute(values * sizeof(Complex) * rates_.byte); }
  void compute(Seconds work) {
    if (steps_.empty() || steps_.back().kind != StageStep::Kind::compute) {
      steps_.push_back({.kind = StageStep::Kind::compute});
    }
    steps_.back().work += work;
  }

  const Route& route_;
  FftRates rates_;
  const std::vector<double>& own_;
  std::vector<StageStep>& steps_;
};

std::vector<Bytes> bytes_of(const std::vector<int>& counts) {
  std::vector<Bytes> bytes;
  bytes.reserve(counts.size());
  for (const int count : counts) {
    bytes.push_back(static_cast<Bytes>(count) * sizeof(Complex));
  }
  return bytes;
}

/// The transforms of all fields: what is in MPI calls is added to `in_mpi`.
Task transform_all(Rank& rank, const Json& point, Stages stages, Seconds& in_mpi) {
  const auto fields = workloads::pencil_fft::number(point, "fields");
  const bool nonblocking = workloads::pencil_fft::cut_of(point).nonblocking;
  const auto order =
      workloads::pencil_fft::order_of_stages(fields, Route::stages, workloads::pencil_fft::is_pipelined(point));
  std::vector<std::vector<RequestPtr>> requests(static_cast<std::size_t>(fields),
                                                std::vector<RequestPtr>(stages.exchanges.size()));
  for (const auto& [field, stage] : order) {
    for (const auto& step : stages.steps[static_cast<std::size_t>(stage)]) {
      if (step.kind == StageStep::Kind::compute) {
        co_await rank.compute(step.work);
        continue;
      }
      RequestPtr& request = requests[static_cast<std::size_t>(field)][step.exchange];
      if (step.kind == StageStep::Kind::start) {
        Exchanged exchanged = stages.exchanges[step.exchange];
        if (step.back) {
          std::swap(exchanged.out, exchanged.in);
        }
        request = timed(rank, in_mpi, [&] { return rank.start(alltoallv(rank.model().schedules, exchanged)); });
      }
      if (step.kind == StageStep::Kind::finish || !nonblocking) {
        co_await timed_wait(rank, std::exchange(request, nullptr), in_mpi);
      }
    }
  }
}

Task run_transform(Rank& rank, Fence& fence, const Json& point, Measured& measured) {
  namespace fft = workloads::pencil_fft;
  measured.role = "rank";
  const auto& computation = rank.model().computation;
  const FftRates rates{.operation = rate_of(computation.fft_operation, "fft_s_per_operation", "fft"),
                       .byte = rate_of(computation.copied_byte, "copied_s_per_byte", "fft")};
  const Pencils pencils(fft::field_of(point), fft::grid_of(point, rank.size()), rank.number());
  Stages stages = stages_of(Route(pencils, fft::cut_of(point)), rank.number(), rates);
  co_await rank.compute(rank.model().settle);
  co_await fence.arrive();
  const Seconds begin = rank.now();
  Seconds in_mpi = 0;
  if (fft::of_whole_fields(point)) {
    co_await rank.compute(fft::operations_of(point) * rates.operation);
  } else {
    co_await transform_all(rank, point, std::move(stages), in_mpi);
  }
  const Seconds elapsed = rank.free_at() - begin;
  measured.values = {{"elapsed_s", elapsed},
                     {"comp_s", elapsed - in_mpi},
                     {"comm_s", in_mpi},
                     {"mops", fft::operations_of(point) / elapsed / 1e6}};
}

void check_transform(const Json& point, int ranks) {
  workloads::check_point(point, workloads::pencil_fft::parameters(), "the point");
  workloads::pencil_fft::require_grid(point, ranks);
}

}  // namespace

Stages stages_of(const Route& route, int rank, FftRates rates) {
  Stages stages;
  std::vector<double> own;
  for (const Group group : {Group::row, Group::column}) {
    const auto members = workloads::pencil_fft::members_of(route.pencils().grid, group, rank);
    for (int chunk = 0; chunk < route.cut().chunks; ++chunk) {
      const auto exchange = route.exchange(group, chunk, rank);
      stages.exchanges.push_back({.ranks = members,
                                  .place = static_cast<int>(std::ranges::find(members, rank) - members.begin()),
                                  .out = bytes_of(exchange.before.counts),
                                  .in = bytes_of(exchange.after.counts)});
      own.push_back(static_cast<double>(exchange.own));
    }
  }
  for (int number = 0; number < Route::stages; ++number) {
    Written steps(route, rates, own, stages.steps[static_cast<std::size_t>(number)]);
    route.stage(number, false, steps);
  }
  return stages;
}

const Pattern fourier_transform{
    .name = "transform", .quantities = workloads::kernel_quantities, .check = check_transform, .run = run_transform};

}  // namespace simulated
