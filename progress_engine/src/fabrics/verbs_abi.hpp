// SPDX-License-Identifier: BSD-3-Clause
// What the engine needs of libibverbs' objects (infiniband/verbs.h), whose ABI has been the same since its version 1.1:
// programs have the places of poll_cq and req_notify_cq compiled in. Its header is on few machines that have the
// library. tests/verbs_test.cpp compares where there is one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

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
