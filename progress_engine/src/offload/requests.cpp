// SPDX-License-Identifier: BSD-3-Clause
// Waiting for requests and testing them (MPI 4.1, chapter 3.7): all of it happens in the program's threads, on proxies.
#include <sched.h>

#include "mpi/mpi_header.hpp"
#include "offload/calls.hpp"
#include "offload/routes.hpp"

namespace progress_engine::offload {
namespace {

void refuse_on_communication_thread(const char* name) {
  if (on_communication_thread()) [[unlikely]]
    refuse_callback(name);
}

// Null for MPI_REQUEST_NULL and for a persistent request that is not active: there is nothing to wait for.
Proxy* live(const Process& here, MPI_Request request) {
  if (request == here.handles.request_null) return nullptr;
  Proxy* proxy = proxy_of(here.proxies, request);
  return proxy && proxy->active ? proxy : nullptr;
}

// The empty status has an MPI_ERROR of its own, MPI_SUCCESS (MPI 4.1, section 3.7.3).
void give_empty(const Process& here, MPI_Status* status) { give_with(MPI_SUCCESS, status, here.table.empty_status()); }

// Statuses to fill: none where the program ignores them.
MPI_Status* at(MPI_Status* statuses, int index) { return is_wanted(statuses) ? statuses + index : nullptr; }

// What a complete operation leaves, without ending it: of a generalised request its query function knows that.
struct Outcome {
  int code;
  MPI_Status status;
};

Outcome outcome_of(const Proxy& proxy) {
  if (!proxy.general) return {proxy.code, proxy.status};
  Outcome outcome{};
  int done = 0;
  outcome.code = borrow([&] { return PE_PMPI(MPI_Request_get_status)(proxy.real, &done, &outcome.status); });
  return outcome;
}

void show_one_of_several(const Proxy& proxy, MPI_Status* status) {
  const Outcome outcome = outcome_of(proxy);
  give_with(outcome.code, status, outcome.status);
}

int show(const Proxy& proxy, MPI_Status* status, bool with_error = false) {
  const Outcome outcome = outcome_of(proxy);
  if (with_error)
    give_with(outcome.code, status, outcome.status);
  else
    give(status, outcome.status);
  return proxy.general ? outcome.code : MPI_SUCCESS;
}

// Ends a complete operation: the program's request is as the standard wants it afterwards.
int harvest(Process& here, Proxy& proxy, MPI_Request* request, MPI_Status* status, bool of_several = false) {
  if (proxy.general) proxy.code = borrow([&] { return PE_PMPI(MPI_Wait)(&proxy.real, &proxy.status); });
  const int code = proxy.code;
  if (of_several)
    give_with(code, status, proxy.status);
  else
    give(status, proxy.status);
  proxy.active = false;
  if (!proxy.persistent) {
    *request = here.handles.request_null;
    here.proxies.give_back(proxy);
  }
  return code;
}

// Who tests expects progress (MPI 4.1, section 3.7.4; programs take what needs no partner for complete after one test),
// and must not keep the core from the thread that works for it.
void work_once(Process& here) {
  tested_in_vain();
  if (here.callers_take_turns)
    here.communication_thread.take_turn([&] { return here.table.pending() && here.table.advance(); });
  if (wait_policy().communication_cpu.load(std::memory_order_relaxed) == sched_getcpu()) sched_yield();
}

// Whether `done()`, now or after some work.
template <typename Done>
bool tested(Process& here, Done done) {
  if (done()) return true;
  work_once(here);
  return done();
}

// Waits for all that are live.
void wait_for_all(Process& here, int count, const MPI_Request* requests) {
  int number = 0;
  for (int i = 0; i < count; ++i) {
    const Proxy* proxy = live(here, requests[i]);
    number += proxy && !proxy->completion.done() ? 1 : 0;
  }
  if (number == 0) return;
  Waiter waiter(number);
  for (int i = 0; i < count && number > 0; ++i) {
    Proxy* proxy = live(here, requests[i]);
    if (!proxy || proxy->completion.done()) continue;
    --number;
    if (!proxy->completion.attach(waiter)) waiter.signal();
  }
  for (; number > 0; --number) waiter.signal();  // those that completed between the two loops
  waiter.wait();
}

// Waits until at least one that is live is complete.
void wait_for_any(Process& here, int count, const MPI_Request* requests) {
  Waiter waiter(1);
  int attached = 0;  // how many of the array's first ones were looked at
  bool complete = false;
  for (; attached < count && !complete; ++attached) {
    Proxy* proxy = live(here, requests[attached]);
    if (proxy && !proxy->completion.attach(waiter)) complete = true;
  }
  if (!complete) waiter.wait();
  int signals = 0;
  for (int i = 0; i < attached - (complete ? 1 : 0); ++i) {
    Proxy* proxy = live(here, requests[i]);
    if (proxy && !proxy->completion.detach(waiter)) ++signals;
  }
  waiter.drain(signals);
}

struct Found {
  bool anything_live = false;
  int index = MPI_UNDEFINED;  // the first that is complete
};

Found look(const Process& here, int count, const MPI_Request* requests) {
  Found found;
  for (int i = 0; i < count && found.index == MPI_UNDEFINED; ++i) {
    const Proxy* proxy = live(here, requests[i]);
    found.anything_live = found.anything_live || proxy;
    if (proxy && proxy->completion.done()) found.index = i;
  }
  return found;
}

Found look_and_work(Process& here, int count, const MPI_Request* requests) {
  const Found found = look(here, count, requests);
  if (!found.anything_live || found.index != MPI_UNDEFINED) return found;
  work_once(here);
  return look(here, count, requests);
}

bool all_done(const Process& here, int count, const MPI_Request* requests) {
  for (int i = 0; i < count; ++i)
    if (const Proxy* proxy = live(here, requests[i]); proxy && !proxy->completion.done()) return false;
  return true;
}

// All are complete or not live.
int harvest_all(Process& here, int count, MPI_Request* requests, MPI_Status* statuses) {
  bool failed = false;
  for (int i = 0; i < count; ++i) {
    if (Proxy* proxy = live(here, requests[i]))
      failed = harvest(here, *proxy, &requests[i], at(statuses, i), true) != MPI_SUCCESS || failed;
    else
      give_empty(here, at(statuses, i));
  }
  return failed ? MPI_ERR_IN_STATUS : MPI_SUCCESS;
}

int harvest_some(Process& here, int count, MPI_Request* requests, int* number, int* indices, MPI_Status* statuses) {
  bool failed = false;
  *number = 0;
  for (int i = 0; i < count; ++i) {
    const Proxy* proxy = live(here, requests[i]);
    if (!proxy || !proxy->completion.done()) continue;
    indices[(*number)++] = i;
  }
  for (int k = 0; k < *number; ++k) {
    MPI_Request& request = requests[indices[k]];
    failed = harvest(here, *live(here, request), &request, at(statuses, k), true) != MPI_SUCCESS || failed;
  }
  return failed ? MPI_ERR_IN_STATUS : MPI_SUCCESS;
}

}  // namespace

namespace routed {

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  refuse_on_communication_thread("MPI_Wait");
  Process& here = process();
  Proxy* proxy = live(here, *request);
  if (!proxy) {
    give_empty(here, at(status, 0));
    return MPI_SUCCESS;
  }
  proxy->completion.wait();
  return harvest(here, *proxy, request, at(status, 0));
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  refuse_on_communication_thread("MPI_Waitall");
  Process& here = process();
  wait_for_all(here, count, requests);
  return harvest_all(here, count, requests, statuses);
}

int MPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  refuse_on_communication_thread("MPI_Waitany");
  Process& here = process();
  Found found = look(here, count, requests);
  while (found.anything_live && found.index == MPI_UNDEFINED) {
    wait_for_any(here, count, requests);
    found = look(here, count, requests);
  }
  *index = found.index;
  if (found.index != MPI_UNDEFINED)
    return harvest(here, *live(here, requests[found.index]), &requests[found.index], at(status, 0));
  give_empty(here, at(status, 0));
  return MPI_SUCCESS;
}

int MPI_Waitsome(int count, MPI_Request requests[], int* number, int indices[], MPI_Status statuses[]) {
  refuse_on_communication_thread("MPI_Waitsome");
  Process& here = process();
  Found found = look(here, count, requests);
  while (found.anything_live && found.index == MPI_UNDEFINED) {
    wait_for_any(here, count, requests);
    found = look(here, count, requests);
  }
  if (found.index != MPI_UNDEFINED) return harvest_some(here, count, requests, number, indices, statuses);
  *number = MPI_UNDEFINED;
  return MPI_SUCCESS;
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  refuse_on_communication_thread("MPI_Test");
  Process& here = process();
  Proxy* proxy = live(here, *request);
  *flag = tested(here, [&] { return !proxy || proxy->completion.done(); });
  if (proxy && *flag) return harvest(here, *proxy, request, at(status, 0));
  if (!proxy) give_empty(here, at(status, 0));
  return MPI_SUCCESS;
}

int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  refuse_on_communication_thread("MPI_Testall");
  Process& here = process();
  *flag = tested(here, [&] { return all_done(here, count, requests); });
  return *flag ? harvest_all(here, count, requests, statuses) : MPI_SUCCESS;
}

int MPI_Testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  refuse_on_communication_thread("MPI_Testany");
  Process& here = process();
  const Found found = look_and_work(here, count, requests);
  *index = found.index;
  *flag = found.index != MPI_UNDEFINED || !found.anything_live;
  if (found.index != MPI_UNDEFINED)
    return harvest(here, *live(here, requests[found.index]), &requests[found.index], at(status, 0));
  if (*flag) give_empty(here, at(status, 0));
  return MPI_SUCCESS;
}

int MPI_Testsome(int count, MPI_Request requests[], int* number, int indices[], MPI_Status statuses[]) {
  refuse_on_communication_thread("MPI_Testsome");
  Process& here = process();
  const Found found = look_and_work(here, count, requests);
  if (found.index != MPI_UNDEFINED) return harvest_some(here, count, requests, number, indices, statuses);
  *number = found.anything_live ? 0 : MPI_UNDEFINED;
  return MPI_SUCCESS;
}

int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  refuse_on_communication_thread("MPI_Request_get_status");
  Process& here = process();
  const Proxy* proxy = live(here, request);
  *flag = tested(here, [&] { return !proxy || proxy->completion.done(); });
  if (proxy && *flag) return show(*proxy, at(status, 0));
  if (!proxy) give_empty(here, at(status, 0));
  return MPI_SUCCESS;
}

int MPI_Request_get_status_all(int count, const MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  refuse_on_communication_thread("MPI_Request_get_status_all");
  Process& here = process();
  *flag = tested(here, [&] { return all_done(here, count, requests); });
  for (int i = 0; i < count && *flag; ++i) {
    if (const Proxy* proxy = live(here, requests[i]))
      show_one_of_several(*proxy, at(statuses, i));
    else
      give_empty(here, at(statuses, i));
  }
  return MPI_SUCCESS;
}

int MPI_Request_get_status_any(int count, const MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  refuse_on_communication_thread("MPI_Request_get_status_any");
  Process& here = process();
  const Found found = look_and_work(here, count, requests);
  *index = found.index;
  *flag = found.index != MPI_UNDEFINED || !found.anything_live;
  if (found.index != MPI_UNDEFINED)
    return show(*live(here, requests[found.index]), at(status, 0), here.table.quirks().receive_sets_error);
  if (*flag) give_empty(here, at(status, 0));
  return MPI_SUCCESS;
}

int MPI_Request_get_status_some(int count, const MPI_Request requests[], int* number, int indices[],
                                MPI_Status statuses[]) {
  refuse_on_communication_thread("MPI_Request_get_status_some");
  Process& here = process();
  const bool anything_live = look_and_work(here, count, requests).anything_live;
  *number = anything_live ? 0 : MPI_UNDEFINED;
  for (int i = 0; i < count && anything_live; ++i) {
    const Proxy* proxy = live(here, requests[i]);
    if (!proxy || !proxy->completion.done()) continue;
    show_one_of_several(*proxy, at(statuses, *number));
    indices[(*number)++] = i;
  }
  return MPI_SUCCESS;
}

// Intel MPI declares them without const.
int MPI_Request_get_status_all(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  const MPI_Request* const these = requests;
  return routed::MPI_Request_get_status_all(count, these, flag, statuses);
}

int MPI_Request_get_status_any(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  const MPI_Request* const these = requests;
  return routed::MPI_Request_get_status_any(count, these, index, flag, status);
}

int MPI_Request_get_status_some(int count, MPI_Request requests[], int* number, int indices[], MPI_Status statuses[]) {
  const MPI_Request* const these = requests;
  return routed::MPI_Request_get_status_some(count, these, number, indices, statuses);
}

}  // namespace routed
}  // namespace progress_engine::offload
