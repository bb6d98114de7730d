// SPDX-License-Identifier: BSD-3-Clause
// What a rank does in the stages of a field, in numbers: the steps are those of workloads/pencil_fft/problem.h, carried
// out by nobody but written down.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model.h"
#include "pencil_fft/problem.h"
#include "schedules.h"

namespace simulated {

/// One thing after the other.
struct StageStep {
  enum class Kind : std::uint8_t { compute, start, finish };
  Kind kind;
  Seconds work = 0;          ///< compute
  std::size_t exchange = 0;  ///< start, finish: its place in Stages::exchanges
  bool back = false;         ///< start: from pencils along z to those along x
};

struct Stages {
  std::array<std::vector<StageStep>, workloads::pencil_fft::Route::stages> steps;
  std::vector<Exchanged> exchanges;  ///< on the way to pencils along z
};

/// Seconds a complex operation and a copied byte.
struct FftRates {
  Seconds operation;
  Seconds byte;
};

Stages stages_of(const workloads::pencil_fft::Route& route, int rank, FftRates rates);

}  // namespace simulated
