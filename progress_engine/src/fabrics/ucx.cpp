// SPDX-License-Identifier: BSD-3-Clause
// UCX announces: functions of libucp that stand before its own. Its feature WAKEUP is added to what the MPI asks for,
// which gives each worker a descriptor; the worker is armed where the MPI polls it (wait/fabrics.hpp). None of UCX's
// headers is needed: what is declared here is the same in all its versions 1.x, whose ABI is stable.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <set>
#include <string>

#include "platform/fork_mutex.hpp"
#include "platform/platform.hpp"
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

using InitVersion = Status (*)(unsigned, unsigned, const Parameters*, const void*, void**);
using WorkerCreate = Status (*)(void*, const void*, void**);
using WorkerProgress = unsigned (*)(void*);
using WorkerDestroy = void (*)(void*);
using WorkerGetEfd = Status (*)(void*, int*);
using WorkerArm = Status (*)(void*);

constinit Next<InitVersion> next_init("ucp_init_version");
constinit Next<WorkerCreate> next_create("ucp_worker_create");
constinit Next<WorkerProgress> next_progress("ucp_worker_progress");
constinit Next<WorkerDestroy> next_destroy("ucp_worker_destroy");

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
  const InitVersion next = next_init.get();
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
  const auto get_efd = reinterpret_cast<WorkerGetEfd>(find_symbol("ucp_worker_get_efd"));
  int descriptor = -1;
  const Status got = get_efd && find_symbol("ucp_worker_arm") ? get_efd(*worker, &descriptor) : Status{-1};
  if (got == ok)
    fabrics_of_process().opened(Fabric::ucx, *worker, descriptor);
  else
    refuse("a worker of UCX's has no descriptor (status " + std::to_string(got) + ")");
  return status;
}

[[gnu::noinline]] unsigned progress_and_arm(ArmingRound& round, void* worker) {
  static constinit Next<WorkerArm> arm("ucp_worker_arm");
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

}  // namespace
}  // namespace progress_engine

using namespace progress_engine;

PE_INTERPOSED std::int8_t ucp_init_version(unsigned major, unsigned minor, const void* parameters, const void* config,
                                           void** context) {
  return init(major, minor, static_cast<const Parameters*>(parameters), config, context);
}

PE_INTERPOSED std::int8_t ucp_worker_create(void* context, const void* parameters, void** worker) {
  return create_worker(context, parameters, worker);
}

PE_INTERPOSED unsigned ucp_worker_progress(void* worker) {
  if (ArmingRound* round = ArmingRound::current()) [[unlikely]]
    return progress_and_arm(*round, worker);
  const unsigned moved = next_progress.get()(worker);
  if (moved > 0) fabric_steps += moved;
  return moved;
}

PE_INTERPOSED void ucp_worker_destroy(void* worker) {
  fabrics_of_process().closed(worker);
  next_destroy.get()(worker);
}
