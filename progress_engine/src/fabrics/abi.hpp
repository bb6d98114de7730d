// SPDX-License-Identifier: BSD-3-Clause
// What the engine needs of libfabric's objects (rdma/fabric.h, fi_domain.h, fi_eq.h): the same in all its versions 1.x
// and 2.x. Its headers are on few machines that have the library.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>

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
