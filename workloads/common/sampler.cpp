// SPDX-License-Identifier: BSD-3-Clause
#include "common/sampler.h"

#include <dlfcn.h>

#include <algorithm>
#include <random>

#include "common/clock.h"
#include "common/errors.h"
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

using Switch = void (*)();

Switch found(const char* name) { return reinterpret_cast<Switch>(dlsym(RTLD_DEFAULT, name)); }

/// A number that is the same on all ranks, and another in each launch.
std::uint32_t drawn(const MpiProcess& mpi) {
  constexpr int most = 0x7fffffff;
  const int mine = mpi.is_root() ? static_cast<int>(std::random_device{}() & most) : 0;
  return static_cast<std::uint32_t>(mpi.maximum(mine));
}

/// Where that is wanted, pauses the engine in one of each two repetitions, the same on all ranks, and leaves it on.
class OnOff : NonCopyable {
 public:
  OnOff(const MpiProcess& mpi, bool wanted) : wanted_(wanted), order_(wanted ? drawn(mpi) : 0) {}
  ~OnOff() {
    if (wanted_) {
      resume_();
    }
  }

  /// Before each repetition: whether the engine is on in it.
  bool next() {
    if (!wanted_) {
      return true;
    }
    armed_ = second_ ? !armed_ : (order_() & 1U) != 0;
    second_ = !second_;
    (armed_ ? resume_ : pause_)();
    return armed_;
  }

  /// The next repetition is the first of two.
  void restart() noexcept { second_ = false; }

 private:
  bool wanted_;
  Switch pause_ = found("pe_pause");
  Switch resume_ = found("pe_resume");
  std::mt19937 order_;
  bool armed_ = true;
  bool second_ = false;
};

}  // namespace

void require_engine_to_pause(const MpiProcess& mpi) {
  const bool missing = found("pe_pause") == nullptr || found("pe_resume") == nullptr;
  if (mpi.maximum(missing ? 1 : 0) != 0) {
    throw UsageError("--on-off: no progress engine is loaded that could be paused; launch with progress-run");
  }
}

Samples collect(const MpiProcess& mpi, Experiment& experiment, const SamplerOptions& options) {
  const auto begin = Clock::now();
  Samples samples;
  samples.values.resize(experiment.quantities().size());
  std::vector<double> repetition(experiment.quantities().size());
  // Warm-up ends by rank 0's clock as well: everybody must discard the same repetitions.
  bool warming_up = mpi.maximum(options.warmup > 0 ? 1 : 0) != 0;
  OnOff on_off(mpi, options.on_off);
  while (samples.end == Decision::go_on) {
    const bool armed = on_off.next();
    samples.problem = experiment.repeat(repetition);
    if (warming_up) {
      ++samples.warmup;
      samples.end = agree(mpi, samples, Decision::go_on);
      for (auto& distribution : experiment.distributions()) {
        distribution.values.clear();
      }
      const bool more = still_warming_up(options, samples.warmup, seconds_since(begin));
      warming_up = mpi.maximum(mpi.is_root() && more ? 1 : 0) != 0;
      if (!warming_up) {
        on_off.restart();
      }
    } else {
      append(samples, repetition);
      if (options.on_off) {
        samples.armed.push_back(armed ? 1 : 0);
      }
      samples.end = agree(mpi, samples, decide(options, samples.values.front(), seconds_since(begin)));
    }
  }
  const bool converged = is_converged(options, samples.values.front());
  samples.converged = mpi.maximum(mpi.is_root() && converged ? 1 : 0) != 0;
  return samples;
}

}  // namespace workloads
