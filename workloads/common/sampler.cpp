// SPDX-License-Identifier: BSD-3-Clause
#include "common/sampler.h"

#include <algorithm>

#include "common/clock.h"
#include "common/stop_rule.h"

namespace workloads {
namespace {

void append(Samples& samples, const std::vector<double>& repetition) {
  for (std::size_t i = 0; i < repetition.size(); ++i) {
    samples.values[i].push_back(repetition[i]);
  }
}

// Rank 0 alone knows when it is enough; what stops a rank stops all.
Decision agree(const MpiProcess& mpi, const Samples& samples, Decision enough) {
  Decision mine = mpi.is_root() ? enough : Decision::go_on;
  if (is_interrupted()) {
    mine = Decision::interrupted;
  }
  if (!samples.problem.empty()) {
    mine = Decision::failed;
  }
  return static_cast<Decision>(mpi.maximum(static_cast<int>(mine)));
}

}  // namespace

Samples collect(const MpiProcess& mpi, Experiment& experiment, const SamplerOptions& options) {
  const auto begin = Clock::now();
  Samples samples;
  samples.values.resize(experiment.quantities().size());
  std::vector<double> repetition(experiment.quantities().size());
  // Warm-up ends by rank 0's clock as well: everybody must discard the same repetitions.
  bool warming_up = mpi.maximum(options.warmup > 0 ? 1 : 0) != 0;
  while (samples.end == Decision::go_on) {
    samples.problem = experiment.repeat(repetition);
    if (warming_up) {
      ++samples.warmup;
      samples.end = agree(mpi, samples, Decision::go_on);
      for (auto& distribution : experiment.distributions()) {
        distribution.values.clear();
      }
      const bool more = still_warming_up(options, samples.warmup, seconds_since(begin));
      warming_up = mpi.maximum(mpi.is_root() && more ? 1 : 0) != 0;
    } else {
      append(samples, repetition);
      samples.end = agree(mpi, samples, decide(options, samples.values.front(), seconds_since(begin)));
    }
  }
  const bool converged = is_converged(options, samples.values.front());
  samples.converged = mpi.maximum(mpi.is_root() && converged ? 1 : 0) != 0;
  return samples;
}

}  // namespace workloads
