// SPDX-License-Identifier: BSD-3-Clause
// Verbs announce, for an MPI that uses libibverbs itself: a completion queue that it makes without a completion
// channel, to poll it, gets one of the engine's, whose descriptor is watched. The MPI never looks at it; the queue is
// armed where the MPI polls it (wait/fabrics.hpp).
//
// ibv_create_cq and ibv_destroy_cq are called by name. ibv_poll_cq and ibv_req_notify_cq are inline and call what the
// opened device points to: there stands a function of ours before the driver's. What UCX and libfabric make of verbs is
// their own affair: they announce by themselves, and only the MPI's own calls come here.

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "fabrics/fabrics.hpp"
#include "platform/fork_mutex.hpp"
#include "wait/fabrics.hpp"

namespace progress_engine {
namespace {

using namespace verbs;

constinit Theirs<CreateCq> next_create;
constinit Theirs<DestroyCq> next_destroy;
constinit Beside<CreateChannel> create_channel(next_create.place, "ibv_create_comp_channel");
constinit Beside<DestroyChannel> destroy_channel(next_create.place, "ibv_destroy_comp_channel");
constinit Beside<GetEvent> get_event(next_create.place, "ibv_get_cq_event");
constinit Beside<AcknowledgeEvents> acknowledge(next_create.place, "ibv_ack_cq_events");

void refuse(const std::string& why) { fabrics_of_process().refuse(Fabric::verbs, why); }

// Queues with a channel of ours. A queue that failed to be armed is still among them.
struct Queues {
  ForkMutex mutex;
  std::set<const Cq*> with_channel;
};
Queues& queues() {
  static auto* all = new Queues;
  return *all;
}

void keep(const Cq* cq) {
  const std::scoped_lock lock(queues().mutex);
  queues().with_channel.insert(cq);
}

bool take(const Cq* cq) {
  const std::scoped_lock lock(queues().mutex);
  return queues().with_channel.erase(cq) > 0;
}

// ---- arming

// What an earlier arming has announced. Acknowledged at once: ibv_destroy_cq waits for what is not.
void drop_events(Channel* channel) {
  Cq* cq = nullptr;
  void* cq_context = nullptr;
  while (get_event.get()(channel, &cq, &cq_context) == 0) acknowledge.get()(cq, 1);
}

Armed arm(Cq* cq) {
  // Another queue, at the address of one that was destroyed past the engine, by a function found with dlsym.
  if (!cq->channel) return Armed::failed;
  drop_events(cq->channel);
  const int result = cq->context->request_notification(cq, 0);
  if (result == 0) return Armed::yes;
  refuse("a completion queue of the MPI's could not be armed (" + std::to_string(result) + ")");
  return Armed::failed;
}

// Arming, which asks for the next completion, says nothing of one that came between the poll and it. So the queue is
// polled again, into the MPI's own memory, and what that finds is what the MPI gets.
[[gnu::noinline]] int poll_and_arm(ArmingRound& round, PollCq poll, Cq* cq, int entries, void* completions) {
  int found = poll(cq, entries, completions);
  if (entries <= 0 || found < 0) return found;
  round.polled(cq, found > 0, [&] {
    const Armed armed = arm(cq);
    if (armed != Armed::yes) return armed;
    found = poll(cq, entries, completions);
    return found == 0 ? Armed::yes : Armed::busy;
  });
  return found;
}

// ---- before the drivers' functions

// A driver has one or two of them, for all of its devices.
constexpr std::size_t most_kinds = 8;
constinit std::array<std::atomic<PollCq>, most_kinds> polls{};

template <std::size_t kind>
int poll_cq(Cq* cq, int entries, void* completions) {
  const PollCq poll = polls[kind].load(std::memory_order_relaxed);
  if (ArmingRound* round = ArmingRound::current()) [[unlikely]]
    return poll_and_arm(*round, poll, cq, entries, completions);
  return poll(cq, entries, completions);
}

template <std::size_t... kinds>
constexpr std::array<PollCq, most_kinds> all_of(std::index_sequence<kinds...> /*numbers*/) {
  return {&poll_cq<kinds>...};
}
constexpr auto ours = all_of(std::make_index_sequence<most_kinds>());

// Other threads may poll queues of this device meanwhile.
bool stand_before(Context& context) {
  static std::mutex one_at_a_time;
  const std::scoped_lock lock(one_at_a_time);
  const std::atomic_ref<PollCq> place(context.poll_cq);
  const PollCq current = place.load(std::memory_order_relaxed);
  if (std::ranges::find(ours, current) != ours.end()) return true;
  for (std::size_t kind = 0; kind < most_kinds; ++kind) {
    const PollCq known = polls[kind].load(std::memory_order_relaxed);
    if (known && known != current) continue;
    polls[kind].store(current, std::memory_order_relaxed);
    place.store(ours[kind], std::memory_order_release);
    return true;
  }
  return false;
}

// ---- completion queues

// Why a queue stays as the MPI wants it; "" if it need not.
std::string why_not(const Channel* channel) {
  if (channel) return "the MPI waits for its completion queues itself";
  const Fabrics& fabrics = fabrics_of_process();
  for (const Fabric other : {Fabric::ucx, Fabric::libfabric})
    if (fabrics.announces(other)) return std::string(fabric_names[index(other)]) + " announces what the MPI sends";
  return "";
}

// Null if it cannot be had.
Channel* make_channel(Context* context) {
  const auto make = create_channel.get();
  Channel* channel = make ? make(context) : nullptr;
  if (!channel) return nullptr;
  const int flags = fcntl(channel->descriptor, F_GETFL);
  if (flags >= 0 && fcntl(channel->descriptor, F_SETFL, flags | O_NONBLOCK) == 0) return channel;
  destroy_channel.get()(channel);
  return nullptr;
}

Cq* create(Context* context, int entries, void* cq_context, Channel* channel, int vector) {
  const CreateCq next = next_create.get();
  const auto as_asked = [&] { return next(context, entries, cq_context, channel, vector); };
  if (!fabrics_of_process().wants(Fabric::verbs)) return as_asked();
  if (const auto why = why_not(channel); !why.empty()) {
    fabrics_of_process().pass_over(Fabric::verbs, why);
    return as_asked();
  }
  if (!stand_before(*context)) {
    refuse("this process has more kinds of verbs devices than the engine takes");
    return as_asked();
  }
  Channel* made = make_channel(context);
  Cq* cq = made ? next(context, entries, cq_context, made, vector) : nullptr;
  if (!cq) {
    refuse("verbs give no completion queue with a completion channel");
    if (made) destroy_channel.get()(made);
    return as_asked();
  }
  keep(cq);
  fabrics_of_process().opened(Fabric::verbs, cq, made->descriptor);
  return cq;
}

// Nothing of it is left when its address may become another one's.
int destroy(Cq* cq) {
  const bool own = take(cq);
  Channel* channel = own ? cq->channel : nullptr;
  const auto known = fabrics_of_process().find(cq);
  if (own) fabrics_of_process().closed(cq);
  const int result = next_destroy.get()(cq);
  if (!own) return result;
  if (result == 0) {
    destroy_channel.get()(channel);
    return result;
  }
  keep(cq);  // something still uses it
  if (known.descriptor >= 0) fabrics_of_process().opened(Fabric::verbs, cq, known.descriptor);
  return result;
}

}  // namespace

std::span<const Replaced> verbs_calls() {
  static const std::array calls = {replaced("ibv_create_cq", &create, next_create),
                                   replaced("ibv_destroy_cq", &destroy, next_destroy)};
  return calls;
}

}  // namespace progress_engine
