// SPDX-License-Identifier: BSD-3-Clause
// A libucp made up, behind the functions of fabrics/ucx.cpp in a unit test.
#include "fakes/ucp.hpp"

#include <algorithm>

namespace fake_ucp {

State& state() {
  static State the_state;
  return the_state;
}

}  // namespace fake_ucp

using fake_ucp::state;

extern "C" {

std::int8_t ucp_init_version(unsigned /*major*/, unsigned /*minor*/, const std::uint64_t* parameters,
                             const void* /*config*/, void** context) {
  const auto mask = parameters[0];
  for (std::size_t i = 0; i < state().given.size(); ++i) state().given[i] = (mask >> i) & 1U ? parameters[1 + i] : 0;
  ++state().inits;
  const bool wakeup = (state().given[0] & fake_ucp::wakeup) != 0;
  if (wakeup && !state().has_wakeup) return -8;
  *context = wakeup ? &state().with : &state().without;
  return 0;
}

std::int8_t ucp_worker_create(void* context, const void* /*parameters*/, void** worker) {
  *worker = context;
  return 0;
}

void ucp_worker_destroy(void* /*worker*/) {}

std::int8_t ucp_worker_get_efd(void* worker, int* descriptor) {
  if (worker != &state().with) return -5;
  *descriptor = state().descriptor;
  return 0;
}

unsigned ucp_worker_progress(void* /*worker*/) {
  ++state().polls;
  return static_cast<unsigned>(std::max(0, state().events--));
}

std::int8_t ucp_worker_arm(void* /*worker*/) {
  ++state().arms;
  return state().arm_says;
}
}
