// SPDX-License-Identifier: BSD-3-Clause
// libfabric announces: the completion queues that the MPI opens are opened with a descriptor (FI_WAIT_FD), and armed
// (fi_trywait) where the MPI reads them (wait/fabrics.hpp).
//
// Only fi_fabric is a function that can be interposed; the others are called through tables that objects point to. So
// an object that the MPI opens gets a table of its own: a copy of the provider's with some functions of ours.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "fabrics/abi.hpp"
#include "fabrics/watched.hpp"
#include "platform/platform.hpp"
#include "wait/fabrics.hpp"

namespace progress_engine {
namespace {

using namespace libfabric;

// ---- an object with tables of its own

struct Interposed {
  Table functions;  // first: the object points to it, and so finds the rest
  Table of_fid;
  const Table* functions_before;
  const Table* of_fid_before;
  Object* fabric;  // that it belongs to
};
static_assert(std::is_standard_layout_v<Interposed>);

Interposed& interposed(const Object* object) {
  return *reinterpret_cast<Interposed*>(const_cast<Table*>(object->functions));
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
  const auto known = fabrics_of_process().find(object);
  fabrics_of_process().closed(object);
  std::unique_ptr<Interposed> tables(&interposed(object));
  object->functions = tables->functions_before;
  fid->functions = tables->of_fid_before;
  const int result = reinterpret_cast<Close>(fid->functions->functions[close])(fid);
  if (result != in_use) return result;
  // It stays, and what was opened in it goes by its tables.
  object->functions = &tables->functions;
  fid->functions = &tables->of_fid;
  tables.release();  // NOLINT(bugprone-unused-return-value): the object points to them
  if (known.descriptor >= 0) fabrics_of_process().opened(Fabric::libfabric, object, known.descriptor);
  return result;
}

// Null if its tables are not as they are known; then it stays as it is.
Interposed* interpose(Object* object, Object* fabric, std::size_t least) {
  if (!fits(object->functions, least) || !fits(object->fid.functions, control + 1)) {
    fabrics_of_process().refuse(Fabric::libfabric, "libfabric's objects are not as the engine knows them");
    return nullptr;
  }
  auto* made = new Interposed{.functions = copy(*object->functions),
                              .of_fid = copy(*object->fid.functions),
                              .functions_before = object->functions,
                              .of_fid_before = object->fid.functions,
                              .fabric = fabric ? fabric : object};
  put(made->of_fid, close, close_object);
  object->functions = &made->functions;
  object->fid.functions = &made->of_fid;
  return made;
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

constinit std::atomic<OpenFabric> next_fabric{nullptr};
constinit thread_local int depth = 0;

// A provider over another one (tcp;ofi_rxm) opens that one's fabric through the same function: its own affair.
int open_fabric(void* attributes, Object** fabric, void* context) {
  const OpenFabric next = next_fabric.load(std::memory_order_acquire);
  ++depth;
  const int result = next(attributes, fabric, context);
  --depth;
  if (result != 0 || depth > 0 || !fabrics_of_process().wants(Fabric::libfabric)) return result;
  if (Interposed* tables = interpose(*fabric, nullptr, trywait + 1)) {
    put(tables->functions, domain, open_domain);
    put(tables->functions, domain2, open_domain2);
  }
  return result;
}

}  // namespace

void* stand_before_libfabric(void* function) {
  next_fabric.store(reinterpret_cast<OpenFabric>(function), std::memory_order_release);
  return reinterpret_cast<void*>(&fi_fabric);
}

}  // namespace progress_engine

using namespace progress_engine;

PE_INTERPOSED int fi_fabric(void* attributes, void** fabric, void* context) {
  if (!next_fabric.load(std::memory_order_acquire)) {
    void* function = find_symbol("fi_fabric");
    if (!function) function = missing_symbol("fi_fabric");
    stand_before_libfabric(function);
  }
  return open_fabric(attributes, reinterpret_cast<Object**>(fabric), context);
}
