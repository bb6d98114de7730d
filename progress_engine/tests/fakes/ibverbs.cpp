// SPDX-License-Identifier: BSD-3-Clause
#include "fakes/ibverbs.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>

namespace fake_verbs {
namespace {

std::mutex& of_channels() {
  static std::mutex mutex;
  return mutex;
}

Device& device_of(verbs::Context* context) { return *reinterpret_cast<Device*>(context); }
Channel& channel_of(verbs::Channel* channel) { return *reinterpret_cast<Channel*>(channel); }

int request_notification(verbs::Cq* cq, int /*solicited_only*/) {
  Queue& queue = of(cq);
  if (queue.device->before_a_request) queue.device->before_a_request();
  if (queue.device->request_says != 0) return queue.device->request_says;
  const std::scoped_lock lock(queue.mutex);
  queue.armed = true;
  ++queue.requests;
  return 0;
}

void announce(verbs::Cq* cq) {
  const std::scoped_lock lock(of_channels());
  Channel& channel = channel_of(cq->channel);
  channel.events.push_back(cq);
  const std::uint64_t one = 1;
  if (write(channel.object.descriptor, &one, sizeof one) != sizeof one) std::abort();
}

}  // namespace

Device::Device() : Device(poll_cq) {}
Device::Device(verbs::PollCq poll) {
  context.poll_cq = poll;
  context.request_notification = request_notification;
}

Queue& of(verbs::Cq* cq) { return *reinterpret_cast<Queue*>(cq); }

void complete(verbs::Cq* cq) {
  Queue& queue = of(cq);
  bool armed = false;
  {
    const std::scoped_lock lock(queue.mutex);
    ++queue.waiting;
    armed = queue.armed;
    queue.armed = false;
  }
  if (armed && cq->channel) announce(cq);
}

// Completions are integers here, numbered down to 0.
int poll_cq(verbs::Cq* cq, int entries, void* completions) {
  Queue& queue = of(cq);
  int found = 0;
  {
    const std::scoped_lock lock(queue.mutex);
    found = std::min(entries, queue.waiting);
    for (int i = 0; i < found; ++i) static_cast<int*>(completions)[i] = --queue.waiting;
  }
  if (found == 0 && entries > 0 && queue.device->after_an_empty_poll) queue.device->after_an_empty_poll();
  return found;
}

}  // namespace fake_verbs

using namespace fake_verbs;

extern "C" {

verbs::Channel* ibv_create_comp_channel(verbs::Context* context) {
  Device& device = device_of(context);
  if (!device.has_channels) return nullptr;
  auto* channel = new Channel;
  channel->object = {.context = context, .descriptor = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE), .references = 0};
  channel->device = &device;
  ++device.channels;
  return &channel->object;
}

int ibv_destroy_comp_channel(verbs::Channel* object) {
  if (object->references > 0) return EBUSY;
  Channel& channel = channel_of(object);
  --channel.device->channels;
  close(object->descriptor);
  delete &channel;
  return 0;
}

verbs::Cq* ibv_create_cq(verbs::Context* context, int /*entries*/, void* cq_context, verbs::Channel* channel,
                         int /*vector*/) {
  Device& device = device_of(context);
  if (channel && !device.takes_channels) return nullptr;
  auto* queue = new Queue;
  queue->object = {.context = context, .channel = channel, .cq_context = cq_context};
  queue->device = &device;
  if (channel) ++channel->references;
  ++device.queues;
  return &queue->object;
}

// What was not read is dropped, what was read must be acknowledged: it waits for that, for ever if need be.
int ibv_destroy_cq(verbs::Cq* cq) {
  Queue& queue = of(cq);
  if (queue.used) return EBUSY;
  if (cq->channel) {
    const std::scoped_lock lock(of_channels());
    Channel& channel = channel_of(cq->channel);
    std::uint64_t one = 0;
    for (auto unread = std::erase(channel.events, cq); unread > 0; --unread)
      if (read(channel.object.descriptor, &one, sizeof one) != sizeof one) std::abort();
    --channel.object.references;
  }
  {
    std::unique_lock lock(queue.mutex);
    queue.acknowledged.wait(lock, [&] { return queue.events_acknowledged == queue.events_read; });
  }
  --queue.device->queues;
  delete &queue;
  return 0;
}

// Waits for one, unless the channel's descriptor was told not to.
int ibv_get_cq_event(verbs::Channel* object, verbs::Cq** cq, void** cq_context) {
  std::uint64_t one = 0;
  if (read(object->descriptor, &one, sizeof one) != sizeof one) return -1;
  {
    const std::scoped_lock lock(of_channels());
    Channel& channel = channel_of(object);
    *cq = channel.events.front();
    channel.events.pop_front();
  }
  *cq_context = (*cq)->cq_context;
  Queue& queue = of(*cq);
  const std::scoped_lock lock(queue.mutex);
  ++queue.events_read;
  return 0;
}

void ibv_ack_cq_events(verbs::Cq* cq, unsigned count) {
  Queue& queue = of(cq);
  const std::scoped_lock lock(queue.mutex);
  queue.events_acknowledged += static_cast<int>(count);
  queue.acknowledged.notify_all();
}
}
