// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients of miniFE, as workloads/minife solves them. What the memory carries decides their time: each
// matrix element, its column and each vector is counted once a loop, wherever it lies.

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "common/parameters.h"
#include "minife/calls.h"
#include "minife/matrix.h"
#include "minife/method.h"
#include "minife/problem.h"
#include "overlap_point.h"

namespace simulated {
namespace {

namespace fe = workloads::minife;
using fe::Call;
using workloads::Box;
using Kind = SolveStep::Kind;

// simulator/rates.py has the same numbers.
constexpr double of_a_number = sizeof(double);
constexpr double of_a_product = fe::Matrix::bytes_of_a_row + (2 * of_a_number);  ///< of a row

/// Vectors that an update reads or writes.
int vectors_of(fe::Update what) {
  static const std::map<fe::Update, int> table{
      {fe::Update::advance, 6}, {fe::Update::turn, 3}, {fe::Update::pipeline, 13}, {fe::Update::replace, 6}};
  return table.at(what);
}

/// Writes down what it is told to do.
class Written final : public fe::SolveSteps, private fe::ProductSteps {
 public:
  /// `halo`: bytes that are copied into messages, and out of them.
  Written(const Box& mine, const Box& inner, double halo, bool overlapped, Seconds byte)
      : rows_(static_cast<double>(mine.points())),
        inner_(static_cast<double>(inner.points())),
        halo_(halo),
        overlapped_(overlapped),
        byte_(byte) {}

  /// What was written since the last call.
  simulated::SolveSteps take() { return std::exchange(steps_, {}); }

  void multiply(fe::Name /*in*/, fe::Name /*out*/) override { fe::multiply_by(*this, overlapped_); }
  void sum(std::span<const fe::Names> pairs) override { add_sums(Kind::sum, pairs); }
  void start_sums(std::span<const fe::Names> pairs) override { add_sums(Kind::start_sums, pairs); }
  void finish_sums() override { add(Kind::finish_sums); }
  void update(fe::Update what) override { stream(rows_ * vectors_of(what) * of_a_number); }

 private:
  void post_receives() override { add(Kind::post_receives); }
  void pack() override { stream(halo_); }
  void send() override { add(Kind::send); }
  void start_sends() override { add(Kind::start_sends); }
  void wait() override { add(Kind::wait); }
  void unpack() override { stream(halo_); }
  void multiply_rows(fe::Rows which) override {
    const double inner = overlapped_ ? inner_ : 0;
    stream((which == fe::Rows::inner ? inner : rows_ - inner) * of_a_product);
  }

  void add(Kind kind) { steps_.push_back({.kind = kind}); }
  void add_sums(Kind kind, std::span<const fe::Names> pairs) {
    for (const auto& [a, b] : pairs) {
      stream(rows_ * (a == b ? 1 : 2) * of_a_number);
    }
    steps_.push_back({.kind = kind, .bytes = pairs.size() * sizeof(double)});
  }
  void stream(double bytes) {
    if (steps_.empty() || steps_.back().kind != Kind::compute) {
      add(Kind::compute);
    }
    steps_.back().work += bytes * byte_;
  }

  double rows_;
  double inner_;
  double halo_;
  bool overlapped_;
  Seconds byte_;
  simulated::SolveSteps steps_;
};

/// One rank's solve.
class Solver {
 public:
  Solver(Rank& rank, Solve solve, bool barrier_first)
      : rank_(rank), solve_(std::move(solve)), barrier_first_(barrier_first) {}

  /// So many iterations, and what is done before they end.
  Task run(const fe::Method& method, int iterations) {
    co_await play(solve_.begin);
    for (int done = 0; done < iterations;) {
      co_await play(solve_.to_the_test);
      co_await play(solve_.behind_it);
      if (method.replaces(++done)) {
        co_await play(solve_.replacement);
      }
    }
    co_await play(solve_.to_the_test);
  }

  [[nodiscard]] Seconds seconds(Call call) const { return seconds_[static_cast<std::size_t>(call)]; }

 private:
  Seconds& spent(Call call) { return seconds_[static_cast<std::size_t>(call)]; }

  Task play(const simulated::SolveSteps& steps) {
    for (const SolveStep& step : steps) {
      switch (step.kind) {
        case Kind::compute:
          co_await rank_.compute(step.work);
          break;
        case Kind::post_receives:
          for (const Neighbour& neighbour : solve_.neighbours) {
            post(Call::irecv, [&] { return rank_.receive(neighbour.rank, 0, neighbour.in); });
          }
          break;
        case Kind::send:
          for (const Neighbour& neighbour : solve_.neighbours) {
            post(Call::send, [&] { return rank_.send(neighbour.rank, 0, neighbour.out); });
            co_await finish(Call::send, 1);
          }
          break;
        case Kind::start_sends:
          for (const Neighbour& neighbour : solve_.neighbours) {
            post(Call::send, [&] { return rank_.send(neighbour.rank, 0, neighbour.out); });
          }
          break;
        case Kind::wait:
          co_await finish(Call::wait, halo_.size());
          break;
        case Kind::sum:
          co_await sum(step.bytes);
          break;
        case Kind::start_sums:
          sums_ = timed(rank_, spent(Call::allreduce), [&] {
            return rank_.start(schedule_of(rank_.model().schedules, all_of("iallreduce", step.bytes)));
          });
          break;
        case Kind::finish_sums:
          co_await timed_wait(rank_, std::exchange(sums_, nullptr), spent(Call::allreduce_wait));
          break;
      }
    }
  }

  [[nodiscard]] Collective all_of(const char* name, Bytes bytes) const {
    return {.name = name, .rank = rank_.number(), .ranks = rank_.size(), .bytes = bytes};
  }

  template <class Posting>
  void post(Call call, Posting posting) {
    halo_.push_back(timed(rank_, spent(call), posting));
  }
  /// The last of those that were posted.
  Task finish(Call call, std::size_t count) {
    const std::vector<RequestPtr> last(halo_.end() - static_cast<std::ptrdiff_t>(count), halo_.end());
    halo_.resize(halo_.size() - count);
    for (const auto& request : last) {
      co_await timed_wait(rank_, request, spent(call));
    }
  }

  Task sum(Bytes bytes) {
    if (barrier_first_) {
      co_await whole(Call::barrier, barrier(rank_.number(), rank_.size()));
    }
    co_await whole(Call::allreduce, allreduce(rank_.model().schedules, all_of("allreduce", bytes)));
  }
  Task whole(Call call, Rounds rounds) {
    const auto request = timed(rank_, spent(call), [&] { return rank_.start(std::move(rounds)); });
    co_await timed_wait(rank_, request, spent(call));
  }

  Rank& rank_;
  Solve solve_;
  bool barrier_first_;
  std::array<Seconds, fe::call_names.size()> seconds_{};
  std::vector<RequestPtr> halo_;  ///< posted, and not waited for
  RequestPtr sums_;
};

int iterations_of(const Json& point) {
  static std::map<std::tuple<workloads::Triple, int>, int> known;  // all ranks ask
  const auto nodes = fe::nodes_of(point, fe::solve_parameters());
  const auto most = static_cast<int>(workloads::integer_of(point, fe::solve_parameters(), "iterations"));
  auto [place, is_new] = known.try_emplace({nodes, most}, 0);
  if (is_new) {
    place->second = fe::iterations_needed(nodes, most);
  }
  return place->second;
}

Task run_solve(Rank& rank, Fence& fence, const Json& point, Measured& measured) {
  measured.role = "rank";
  const auto byte = rate_of(rank.model().computation.streamed_byte, "streamed_s_per_byte", "minife-packets");
  const auto reductions = fe::reductions_of(point);
  const int iterations = iterations_of(point);
  Solver solver(rank, solve_of(point, rank.number(), rank.size(), byte), reductions.barrier_first);
  co_await rank.compute(rank.model().settle);
  co_await fence.arrive();
  const Seconds begin = rank.now();
  co_await solver.run(fe::Method(reductions.pipelined), iterations);
  const Seconds elapsed = rank.free_at() - begin;
  Seconds in_mpi = 0;
  std::vector<std::pair<std::string_view, double>> calls;
  for (const Call call : fe::calls_of(reductions)) {
    in_mpi += solver.seconds(call);
    calls.emplace_back(fe::seconds_of(call), solver.seconds(call));
  }
  measured.values = {{"elapsed_s", elapsed},
                     {"comp_s", elapsed - in_mpi},
                     {"comm_s", in_mpi},
                     {"iterations", static_cast<double>(iterations)}};
  measured.values.insert(measured.values.end(), calls.begin(), calls.end());
}

void check_solve(const Json& point, int ranks) {
  workloads::check_point(point, fe::solve_parameters(), "the point");
  fe::reductions_of(point);
  fe::bisect(fe::nodes_of(point, fe::solve_parameters()), ranks);
}

std::string why_not_solved(const Json& point) {
  return point.value("packets", false) ? "packets = true: the packets of TCP are not simulated, only its bytes"
                                       : std::string();
}

}  // namespace

Solve solve_of(const Json& point, int rank, int ranks, Seconds byte) {
  const auto nodes = fe::nodes_of(point, fe::solve_parameters());
  const auto boxes = fe::bisect(nodes, ranks);
  const Box& mine = boxes[static_cast<std::size_t>(rank)];
  Solve solve;
  double halo = 0;
  for (const auto& part : fe::neighbours_of(boxes, rank)) {
    solve.neighbours.push_back({.rank = part.neighbour,
                                .out = part.send.points() * sizeof(double),
                                .in = part.receive.points() * sizeof(double)});
    halo += 2 * of_a_number * static_cast<double>(part.send.points());
  }
  const bool overlapped = fe::mode_of(point) != fe::Mode::blocking;
  const fe::Method method(fe::reductions_of(point).pipelined);
  Written written(mine, fe::without_neighbours(mine, nodes), halo, overlapped, byte);
  method.begin(written);
  solve.begin = written.take();
  method.to_the_test(written);
  solve.to_the_test = written.take();
  method.behind_it(written);
  solve.behind_it = written.take();
  fe::Method::replace(written);
  solve.replacement = written.take();
  return solve;
}

const Pattern conjugate_gradients{.name = "solve",
                                  .quantities = fe::solver_quantities,
                                  .check = check_solve,
                                  .run = run_solve,
                                  .why_not = why_not_solved};

}  // namespace simulated
