// SPDX-License-Identifier: BSD-3-Clause
// What announces traffic to the engine, by the setting `events` and by what this machine and the MPI have; and the
// functions of the fabrics' libraries that the MPI calls, in whose place it calls the engine's.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "wait/fabrics.hpp"

namespace progress_engine {

enum class Announcements;  // the setting's values
class EventSource;

struct Watched {
  bool sockets = false;
  PerFabric<bool> fabrics{};
};

// Without a fabric's device all messages between nodes go through sockets, which cost nothing to watch; with one, the
// MPI may use UCX, libfabric or verbs, or sockets all the same: it shows in what is armed and what wakes.
Watched what_to_watch(Announcements events, bool has_device);

// Whether this machine has a device for InfiniBand, RoCE, iWARP, EFA, Omni-Path or Slingshot; `root` is another one's
// in tests.
bool has_fabric_device(const std::string& root = "");

// Why what the setting names does not announce anything; "" if it can. What `auto` allows is told only where it was
// there and was refused. After MPI_Init.
std::string what_lacks(Announcements events, const Fabrics& fabrics);

// "ucx", say: what can have announced something until now.
std::vector<std::string> sources_in_use(const EventSource& events);

// ---- replaced functions
// None of the engine's has their names: another part of the program may use a second UCX, and has nothing to do with
// the MPI's. What is changed are the references of the MPI's own library and components (their GOT, as UCX does for its
// memory hooks, ucm/util/reloc.c, and GOTCHA for tools), and what these get from dlsym.

// The function that the MPI's library has: of the first one that was found, and of no other.
template <typename Function>
class Theirs {
 public:
  Function get() const { return reinterpret_cast<Function>(place.load(std::memory_order_relaxed)); }
  std::atomic<void*> place{nullptr};
};

struct Replaced {
  const char* name;
  void* ours;
  std::atomic<void*>* theirs;  // null until a reference was found
};

template <typename Function>
Replaced replaced(const char* name, Function ours, Theirs<Function>& theirs) {
  return {.name = name, .ours = reinterpret_cast<void*>(ours), .theirs = &theirs.place};
}

// Each library's.
std::span<const Replaced> ucx_calls();
std::span<const Replaced> libfabric_calls();
std::span<const Replaced> verbs_calls();
std::span<const Replaced> calls_of(Fabric fabric);

// From now on the MPI that has `code` calls ours: what is loaded, and what the MPI loads later. That is seen when it
// looks up a component's first symbol, so that it must have called nothing yet. `calls` lasts. What cannot be changed
// goes on as before.
void replace_calls(const void* code, std::span<const Replaced> calls);

// Another function of the library that has `function`; null if it has none.
void* beside(const void* function, const char* name);

// The same, looked up at its first use.
template <typename Function>
class Beside {
 public:
  constexpr Beside(const std::atomic<void*>& function, const char* name) noexcept : function_(function), name_(name) {}
  Function get() {
    void* found = found_.load(std::memory_order_relaxed);
    if (!found) found_.store(found = beside(function_.load(std::memory_order_relaxed), name_));
    return reinterpret_cast<Function>(found);
  }

 private:
  const std::atomic<void*>& function_;
  const char* name_;
  std::atomic<void*> found_{nullptr};
};

// While it lives, endpoints of UCX's that the MPI closes stay open, see mpi/lifecycle.hpp.
class EndpointsStayOpen {
 public:
  explicit EndpointsStayOpen(const void* code);
  ~EndpointsStayOpen();
  EndpointsStayOpen(const EndpointsStayOpen&) = delete;
  EndpointsStayOpen& operator=(const EndpointsStayOpen&) = delete;
};

}  // namespace progress_engine

// ---- what the engine needs of the libraries' objects

// Of libfabric's (rdma/fabric.h, fi_domain.h, fi_eq.h): the same in all its versions 1.x and 2.x. Its headers are on
// few machines that have the library.
namespace progress_engine::libfabric {

// A table of functions: its size, and they.
struct Table {
  static constexpr std::size_t most = 31;
  std::size_t size;
  std::array<void (*)(), most> functions;
};

// Where they stand in theirs.
enum OfFid : std::size_t { close = 0, control = 2 };
enum OfFabric : std::size_t { domain = 0, trywait = 4, domain2 = 5 };
enum OfDomain : std::size_t { cq_open = 1 };
enum OfCq : std::size_t { read = 0, readfrom = 1 };

// Every object begins so.
struct Fid {
  std::size_t kind;
  void* context;
  const Table* functions;
};

// A fabric, a domain or a completion queue, as far as they are alike.
struct Object {
  Fid fid;
  const Table* functions;
};

struct CqAttributes {
  std::size_t size;
  std::uint64_t flags;
  int format;
  int wait_object;
};
constexpr int wait_none = 0;
constexpr int wait_descriptor = 3;  // FI_WAIT_FD

constexpr int get_wait = 5;  // FI_GETWAIT, of control()
constexpr int again = -11;   // -FI_EAGAIN
constexpr int in_use = -16;  // -FI_EBUSY: something that was opened in it is not closed

using Close = int (*)(Fid*);
using Control = int (*)(Fid*, int, void*);
using OpenFabric = int (*)(void* attributes, Object** fabric, void* context);
using OpenDomain = int (*)(Object* fabric, void* info, Object** domain, void* context);
using OpenDomain2 = int (*)(Object* fabric, void* info, Object** domain, std::uint64_t flags, void* context);
using OpenCq = int (*)(Object* domain, CqAttributes* attributes, Object** cq, void* context);
using TryWait = int (*)(Object* fabric, Fid** objects, int count);
using Read = ssize_t (*)(Object* cq, void* buffer, std::size_t count);
using ReadFrom = ssize_t (*)(Object* cq, void* buffer, std::size_t count, std::uint64_t* sources);

}  // namespace progress_engine::libfabric

// What the engine needs of libibverbs' objects (infiniband/verbs.h), whose ABI has been the same since its version 1.1:
// programs have the places of poll_cq and req_notify_cq compiled in. Its header is on few machines that have the
// library. tests/verbs_test.cpp compares where there is one.
namespace progress_engine::verbs {

struct Cq;
using PollCq = int (*)(Cq* cq, int entries, void* completions);
using RequestNotification = int (*)(Cq* cq, int solicited_only);

// An opened device: what programs call on it stands in the object itself.
struct Context {
  void* device;
  std::array<void (*)(), 11> others;
  PollCq poll_cq;
  RequestNotification request_notification;
};

struct Channel {
  Context* context;
  int descriptor;
  int references;
};

struct Cq {
  Context* context;
  Channel* channel;
  void* cq_context;
};

using CreateCq = Cq* (*)(Context* context, int entries, void* cq_context, Channel* channel, int vector);
using DestroyCq = int (*)(Cq* cq);
using CreateChannel = Channel* (*)(Context* context);
using DestroyChannel = int (*)(Channel* channel);
using GetEvent = int (*)(Channel* channel, Cq** cq, void** cq_context);
using AcknowledgeEvents = void (*)(Cq* cq, unsigned count);

}  // namespace progress_engine::verbs
