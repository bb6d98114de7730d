// SPDX-License-Identifier: BSD-3-Clause
// A libucp made up, behind the functions of fabrics/ucx.cpp in a unit test.
#include "fakes/ucp.hpp"

#include <algorithm>
#include <cstdio>

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
  ++state().held;
  return 0;
}

std::int8_t ucp_worker_create(void* context, const void* /*parameters*/, void** worker) {
  *worker = context;
  ++state().held;
  return 0;
}

void ucp_worker_destroy(void* /*worker*/) { --state().held; }

void ucp_cleanup(void* /*context*/) { --state().held; }

std::int8_t ucp_config_read(const char* prefix, const char* /*file*/, void** config) {
  state().prefix = prefix ? prefix : "";
  *config = &state().config;
  ++state().held;
  return 0;
}

std::int8_t ucp_config_modify(void* /*config*/, const char* name, const char* value) {
  state().config[name] = value;
  return 0;
}

void ucp_config_release(void* /*config*/) { --state().held; }

std::int8_t ucp_worker_get_address(void* worker, void** address, std::size_t* length) {
  *address = worker;
  *length = 1;
  ++state().held;
  return 0;
}

void ucp_worker_release_address(void* /*worker*/, void* /*address*/) { --state().held; }

// The parameters are a mask and an address.
std::int8_t ucp_ep_create(void* worker, void* const* parameters, void** endpoint) {
  if (parameters[1] != worker) return -5;
  *endpoint = worker;
  ++state().held;
  return 0;
}

void ucp_ep_print_info(void* endpoint, std::FILE* file) {
  std::fputs(endpoint == &state().with ? state().lanes_with : state().lanes_without, file);
}

void* ucp_ep_close_nb(void* endpoint, unsigned /*mode*/) { return endpoint; }

std::int8_t ucp_request_check_status(void* /*request*/) { return 0; }

void ucp_request_free(void* /*request*/) { --state().held; }

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
