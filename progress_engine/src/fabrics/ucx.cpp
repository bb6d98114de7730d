// SPDX-License-Identifier: BSD-3-Clause
// UCX announces. Its feature WAKEUP is added to what the MPI asks for, which gives each worker a descriptor; the worker
// is armed where the MPI polls it (wait/fabrics.hpp). None of UCX's headers is needed: what is declared here is the
// same in all its versions 1.x, whose ABI is stable.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>

#include "fabrics/fabrics.hpp"
#include "platform/fork_mutex.hpp"
#include "wait/fabrics.hpp"

namespace progress_engine {
namespace {

using Status = std::int8_t;  // UCX packs its enumeration into a byte
constexpr Status ok = 0;
constexpr Status busy = -15;
constexpr std::uint64_t feature_wakeup = 1U << 4;

// The beginning of ucp_params_t: a mask of the fields that are given, and the fields. Each has eight bytes, in the
// order of the mask's bits.
struct Parameters {
  static constexpr int known_fields = 10;
  std::uint64_t mask;
  std::array<std::uint64_t, known_fields> fields;
};
constexpr std::uint64_t has_features = 1;  // the first field

constinit Theirs<Status (*)(unsigned, unsigned, const Parameters*, const void*, void**)> next_init;
constinit Theirs<Status (*)(void*, const void*, void**)> next_create;
constinit Theirs<unsigned (*)(void*)> next_progress;
constinit Theirs<void (*)(void*)> next_destroy;
constinit Theirs<void* (*)(void*)> next_disconnect;
constinit Beside<Status (*)(void*, int*)> get_efd(next_create.place, "ucp_worker_get_efd");
constinit Beside<Status (*)(void*)> arm(next_progress.place, "ucp_worker_arm");

// Contexts whose workers have a descriptor.
struct Contexts {
  ForkMutex mutex;
  std::set<const void*> with_wakeup;
};
Contexts& contexts() {
  static auto* all = new Contexts;
  return *all;
}

void note(const void* context, bool wakeup) {
  const std::scoped_lock lock(contexts().mutex);
  if (wakeup)
    contexts().with_wakeup.insert(context);
  else
    contexts().with_wakeup.erase(context);  // of a former one at the same address
}

bool has_wakeup(const void* context) {
  const std::scoped_lock lock(contexts().mutex);
  return contexts().with_wakeup.contains(context);
}

void refuse(const std::string& why) { fabrics_of_process().refuse(Fabric::ucx, why); }

Status init(unsigned major, unsigned minor, const Parameters* asked, const void* config, void** context) {
  const auto next = next_init.get();
  const bool wanted = fabrics_of_process().wants(Fabric::ucx) && asked && (asked->mask & has_features) != 0;
  const auto as_asked = [&] {
    const Status status = next(major, minor, asked, config, context);
    if (status == ok) note(*context, asked && (asked->mask & has_features) && (asked->fields[0] & feature_wakeup));
    return status;
  };
  if (!wanted || (asked->fields[0] & feature_wakeup) != 0) return as_asked();
  const auto given = static_cast<int>(std::bit_width(asked->mask));
  if (given > Parameters::known_fields) {
    refuse("UCX was given parameters that the engine does not know");
    return as_asked();
  }
  Parameters more{.mask = asked->mask, .fields = {}};
  std::copy_n(asked->fields.begin(), given, more.fields.begin());
  more.fields[0] |= feature_wakeup;
  const Status status = next(major, minor, &more, config, context);
  if (status != ok) {
    refuse("UCX cannot be had with its feature WAKEUP (status " + std::to_string(status) + ")");
    return as_asked();
  }
  note(*context, true);
  return status;
}

Status create_worker(void* context, const void* parameters, void** worker) {
  const Status status = next_create.get()(context, parameters, worker);
  if (status != ok || !fabrics_of_process().wants(Fabric::ucx) || !has_wakeup(context)) return status;
  int descriptor = -1;
  const Status got = get_efd.get() && arm.get() ? get_efd.get()(*worker, &descriptor) : Status{-1};
  if (got == ok)
    fabrics_of_process().opened(Fabric::ucx, *worker, descriptor);
  else
    refuse("a worker of UCX's has no descriptor (status " + std::to_string(got) + ")");
  return status;
}

[[gnu::noinline]] unsigned progress_and_arm(ArmingRound& round, void* worker) {
  const unsigned moved = next_progress.get()(worker);
  fabric_steps += moved;
  round.polled(worker, moved > 0, [&] {
    const Status status = arm.get()(worker);
    if (status == ok) return Armed::yes;
    if (status == busy) return Armed::busy;
    refuse("a worker of UCX's could not be armed (status " + std::to_string(status) + ")");
    return Armed::failed;
  });
  return moved;
}

unsigned progress(void* worker) {
  if (ArmingRound* round = ArmingRound::current()) [[unlikely]]
    return progress_and_arm(*round, worker);
  const unsigned moved = next_progress.get()(worker);
  if (moved > 0) fabric_steps += moved;
  return moved;
}

void destroy_worker(void* worker) {
  fabrics_of_process().closed(worker);
  next_destroy.get()(worker);
}

constinit std::atomic<bool> endpoints_stay_open{false};

// As MPICH calls it: null, UCS_OK, is an endpoint that is closed.
void* disconnect(void* endpoint) { return endpoints_stay_open ? nullptr : next_disconnect.get()(endpoint); }

}  // namespace

std::span<const Replaced> ucx_calls() {
  static const std::array calls = {replaced("ucp_init_version", &init, next_init),
                                   replaced("ucp_worker_create", &create_worker, next_create),
                                   replaced("ucp_worker_progress", &progress, next_progress),
                                   replaced("ucp_worker_destroy", &destroy_worker, next_destroy)};
  return calls;
}

EndpointsStayOpen::EndpointsStayOpen(const void* code) {
  static const std::array calls = {replaced("ucp_disconnect_nb", &disconnect, next_disconnect)};
  replace_calls(code, calls);
  endpoints_stay_open = true;
}
EndpointsStayOpen::~EndpointsStayOpen() { endpoints_stay_open = false; }

}  // namespace progress_engine
