// SPDX-License-Identifier: BSD-3-Clause
// libfabric announces: the completion queues that the MPI opens are opened with a descriptor (FI_WAIT_FD), and armed
// (fi_trywait) where the MPI reads them (wait/fabrics.hpp).
//
// Only fi_fabric is called by its name; the others are called through tables that objects point to. So an object that
// the MPI opens gets a table of its own: a copy of the provider's with some functions of ours. A provider may exchange
// an object's table later, as opx does: so what belongs to an object is found by the object, not by its table.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <string>

#include "fabrics/fabrics.hpp"
#include "platform/fork_mutex.hpp"
#include "wait/fabrics.hpp"

namespace progress_engine {
namespace {

using namespace libfabric;

// ---- an object with tables of its own

struct Interposed {
  Table functions;
  Table of_fid;
  const Table* functions_before;
  const Table* of_fid_before;
  Object* fabric;  // that it belongs to
  // Null between two objects: these are few, and kept, so that one is found without a lock while others are closed.
  std::atomic<const Object*> object{nullptr};
  bool used = true;  // under the mutex
  Interposed* next = nullptr;
};
constinit std::atomic<Interposed*> first{nullptr};

ForkMutex& making() {
  static auto* mutex = new ForkMutex;
  return *mutex;
}

// What does not count among its fields is the caller's to fill in.
Interposed& take() {
  const std::scoped_lock lock(making());
  for (Interposed* one = first.load(); one; one = one->next)
    if (!one->used) return one->used = true, *one;
  auto* one = new Interposed{};
  one->next = first.load();
  first.store(one, std::memory_order_release);
  return *one;
}

void give_back(Interposed& one) {
  const std::scoped_lock lock(making());
  one.used = false;
}

// Of an object that has called a function of ours.
Interposed& interposed(const Object* object) {
  for (Interposed* one = first.load(std::memory_order_acquire); one; one = one->next)
    if (one->object.load(std::memory_order_acquire) == object) return *one;
  std::abort();
}

template <typename Function>
Function before(const Object* object, std::size_t index) {
  return reinterpret_cast<Function>(interposed(object).functions_before->functions[index]);
}

constexpr std::size_t bytes(std::size_t functions) { return sizeof(std::size_t) + functions * sizeof(void (*)()); }

bool fits(const Table* table, std::size_t least) {
  return table && table->size >= bytes(least) && table->size <= sizeof(Table);
}

Table copy(const Table& table) {
  Table result{.size = table.size, .functions = {}};
  std::copy_n(table.functions.begin(), (table.size - bytes(0)) / sizeof(void (*)()), result.functions.begin());
  return result;
}

template <typename Function>
void put(Table& table, std::size_t index, Function function) {
  if (table.size >= bytes(index + 1) && table.functions[index])
    table.functions[index] = reinterpret_cast<void (*)()>(function);
}

int close_object(Fid* fid) {
  auto* object = reinterpret_cast<Object*>(fid);
  Interposed& tables = interposed(object);
  const auto known = fabrics_of_process().find(object);
  fabrics_of_process().closed(object);
  const bool has_ours = object->functions == &tables.functions;
  const bool fid_has_ours = fid->functions == &tables.of_fid;
  if (has_ours) object->functions = tables.functions_before;
  if (fid_has_ours) fid->functions = tables.of_fid_before;
  tables.object = nullptr;  // when it is closed, another thread may open one at its place
  const int result = reinterpret_cast<Close>(tables.of_fid_before->functions[close])(fid);
  if (result != in_use) return give_back(tables), result;
  // It stays, and what was opened in it goes by its tables.
  tables.object = object;
  if (has_ours) object->functions = &tables.functions;
  if (fid_has_ours) fid->functions = &tables.of_fid;
  if (known.descriptor >= 0) fabrics_of_process().opened(Fabric::libfabric, object, known.descriptor);
  return result;
}

// Null if its tables are not as they are known; then it stays as it is.
Interposed* interpose(Object* object, Object* fabric, std::size_t least) {
  if (!fits(object->functions, least) || !fits(object->fid.functions, control + 1)) {
    fabrics_of_process().refuse(Fabric::libfabric, "libfabric's objects are not as the engine knows them");
    return nullptr;
  }
  Interposed& made = take();
  made.functions_before = object->functions;
  made.of_fid_before = object->fid.functions;
  made.functions = copy(*object->functions);
  made.of_fid = copy(*object->fid.functions);
  made.fabric = fabric ? fabric : object;
  made.object.store(object, std::memory_order_release);
  put(made.of_fid, close, close_object);
  object->functions = &made.functions;
  object->fid.functions = &made.of_fid;
  return &made;
}

// ---- completion queues

Armed arm(Object* cq) {
  Object* fabric = interposed(cq).fabric;
  std::array<Fid*, 1> objects{&cq->fid};
  const int result = before<TryWait>(fabric, trywait)(fabric, objects.data(), 1);
  if (result == 0) return Armed::yes;
  if (result == again) return Armed::busy;
  fabrics_of_process().refuse(Fabric::libfabric, "libfabric's fi_trywait failed (" + std::to_string(result) + ")");
  return Armed::failed;
}

template <typename ReadFunction, typename... Arguments>
ssize_t read_cq(std::size_t index, Object* cq, Arguments... arguments) {
  const ssize_t result = before<ReadFunction>(cq, index)(cq, arguments...);
  if (result > 0) fabric_steps += static_cast<std::uint64_t>(result);
  if (ArmingRound* round = ArmingRound::current()) [[unlikely]]
    round->polled(cq, result != again && result != 0, [cq] { return arm(cq); });
  return result;
}

ssize_t read_entries(Object* cq, void* buffer, std::size_t count) { return read_cq<Read>(read, cq, buffer, count); }
ssize_t read_entries_from(Object* cq, void* buffer, std::size_t count, std::uint64_t* sources) {
  return read_cq<ReadFrom>(readfrom, cq, buffer, count, sources);
}

void announce(Object* cq, Object* fabric) {
  int descriptor = -1;
  const auto ask = reinterpret_cast<Control>(cq->fid.functions->functions[control]);
  if (const int result = ask(&cq->fid, get_wait, &descriptor); result != 0 || descriptor < 0) {
    fabrics_of_process().refuse(Fabric::libfabric,
                                "a completion queue of libfabric's has no descriptor (" + std::to_string(result) + ")");
    return;
  }
  Interposed* made = interpose(cq, fabric, readfrom + 1);
  if (!made) return;
  put(made->functions, read, read_entries);
  put(made->functions, readfrom, read_entries_from);
  fabrics_of_process().opened(Fabric::libfabric, cq, descriptor);
}

// Who asks for a way to wait has a use for it.
int open_cq(Object* owner, CqAttributes* attributes, Object** cq, void* context) {
  const auto next = before<OpenCq>(owner, cq_open);
  if (!attributes || attributes->wait_object != wait_none) return next(owner, attributes, cq, context);
  attributes->wait_object = wait_descriptor;
  int result = next(owner, attributes, cq, context);
  attributes->wait_object = wait_none;
  if (result == 0) {
    announce(*cq, interposed(owner).fabric);
    return result;
  }
  fabrics_of_process().refuse(Fabric::libfabric, "libfabric's provider opens no completion queue with FI_WAIT_FD (" +
                                                     std::to_string(result) + ")");
  return next(owner, attributes, cq, context);
}

// ---- domains and fabrics

int opened_domain(int result, Object* fabric, Object** made) {
  if (result != 0) return result;
  if (Interposed* tables = interpose(*made, fabric, cq_open + 1)) put(tables->functions, cq_open, open_cq);
  return result;
}

int open_domain(Object* fabric, void* info, Object** made, void* context) {
  return opened_domain(before<OpenDomain>(fabric, domain)(fabric, info, made, context), fabric, made);
}

int open_domain2(Object* fabric, void* info, Object** made, std::uint64_t flags, void* context) {
  return opened_domain(before<OpenDomain2>(fabric, domain2)(fabric, info, made, flags, context), fabric, made);
}

constinit Theirs<OpenFabric> next_fabric;

int open_fabric(void* attributes, Object** fabric, void* context) {
  const int result = next_fabric.get()(attributes, fabric, context);
  if (result != 0 || !fabrics_of_process().wants(Fabric::libfabric)) return result;
  if (Interposed* tables = interpose(*fabric, nullptr, trywait + 1)) {
    put(tables->functions, domain, open_domain);
    put(tables->functions, domain2, open_domain2);
  }
  return result;
}

}  // namespace

std::span<const Replaced> libfabric_calls() {
  static const std::array calls = {replaced("fi_fabric", &open_fabric, next_fabric)};
  return calls;
}

}  // namespace progress_engine
