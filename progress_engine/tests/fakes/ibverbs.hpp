// SPDX-License-Identifier: BSD-3-Clause
// A libibverbs made up, behind the functions of fabrics/verbs.cpp in a unit test. It behaves as the manual says
// (ibv_get_cq_event(3), ibv_req_notify_cq(3), ibv_create_cq(3)): an event comes of the first completion after a
// request, a request says nothing of completions that were there before it, and a queue cannot be destroyed while
// events that were read are not acknowledged, or while something uses it.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "fabrics/fabrics.hpp"

namespace fake_verbs {

namespace verbs = progress_engine::verbs;

struct Device {
  verbs::Context context{};  // first: what the library's functions get
  // What the driver can.
  bool has_channels = true;
  bool takes_channels = true;
  int request_says = 0;
  // Called within poll_cq where it found nothing, and within the request before it is in force.
  std::function<void()> after_an_empty_poll;
  std::function<void()> before_a_request;
  // How many there are.
  int channels = 0;
  int queues = 0;

  Device();
  // Another driver's, whose functions stand elsewhere.
  explicit Device(verbs::PollCq poll);
};

struct Channel {
  verbs::Channel object{};
  Device* device = nullptr;
  std::deque<verbs::Cq*> events;
};

struct Queue {
  verbs::Cq object{};
  Device* device = nullptr;
  std::mutex mutex;
  std::condition_variable acknowledged;
  int waiting = 0;  // completions
  bool armed = false;
  bool used = false;  // by a queue pair
  int requests = 0;
  int events_read = 0;
  int events_acknowledged = 0;
};

Queue& of(verbs::Cq* cq);

// The device completes something.
void complete(verbs::Cq* cq);

// The driver's own functions.
int poll_cq(verbs::Cq* cq, int entries, void* completions);

}  // namespace fake_verbs
