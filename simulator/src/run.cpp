// SPDX-License-Identifier: BSD-3-Clause
#include "run.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "common/errors.h"

namespace simulated {
namespace {

using Points = std::vector<std::pair<const Pattern*, Json>>;
using Results = std::vector<std::vector<Measured>>;

/// Of `repetitions` the last is kept.
Task program(Rank& rank, Fence& fence, const Points& points, int repetitions, Results& results) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (int repetition = 0; repetition < repetitions; ++repetition) {
      auto& measured = results[i][static_cast<std::size_t>(rank.number())];
      co_await points[i].first->run(rank, fence, points[i].second, measured);
      co_await fence.arrive();
    }
  }
}

}  // namespace

const Pattern* pattern_of(const std::string& program, const std::string& benchmark) {
  static const std::map<std::string, std::vector<const Pattern*>> table{
      {"microbench", {&overlap, &collective_overlap}},
      {"minighost", {&halo_exchange}},
      {"pencil_fft", {&fourier_transform}},
      {"minife", {&conjugate_gradients}},
  };
  const auto found = table.find(program);
  if (found == table.end()) {
    return nullptr;
  }
  const auto one = std::ranges::find(found->second, benchmark, &Pattern::name);
  return one == found->second.end() ? nullptr : *one;
}

Run::Run(Network& network, const Model& model, const Variant& variant, int ranks)
    : network_(network), warmup_(polls(variant) ? 1 : 0) {
  if (ranks > network.hosts()) {
    throw workloads::UsageError(
        fmt::format("--ranks {}: the platform has {} hosts, and a rank takes one", ranks, network.hosts()));
  }
  for (int number = 0; number < ranks; ++number) {
    ranks_.push_back(std::make_unique<Rank>(network, model, ranks_, number, make_wakes(variant, model, number, ranks)));
  }
}

Results Run::points(const Points& points) {
  Results results(points.size(), std::vector<Measured>(ranks_.size()));
  Fence fence(network_, static_cast<int>(ranks_.size()));
  std::vector<Task> programs;
  programs.reserve(ranks_.size());
  for (const auto& rank : ranks_) {
    programs.push_back(program(*rank, fence, points, warmup_ + 1, results));
  }
  network_.run([&] {
    for (auto& one : programs) {
      one.start();
    }
  });
  for (const auto& one : programs) {
    if (!one.ended()) {
      throw workloads::Failure("a simulated rank waits for a message that nobody sends");
    }
    one.rethrow();
  }
  return results;
}

}  // namespace simulated
