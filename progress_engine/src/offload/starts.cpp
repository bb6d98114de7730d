// SPDX-License-Identifier: BSD-3-Clause
#include "offload/starts.hpp"

#include "mpi/mpi_header.hpp"
#include "offload/routes.hpp"

namespace progress_engine::offload {
namespace {

void run_start(Command& command) {
  static constinit Next<decltype(&::MPI_Start)> next("MPI_Start");
  auto& proxy = static_cast<Proxy&>(command);
  const int code = next.get()(&proxy.real);
  if (code == MPI_SUCCESS) process().table.lacks(proxy, proxy.partitions);
  process().table.adopt(proxy, code);
}

// Null for what MPI_Start has no use for.
Proxy* startable(MPI_Request request) {
  Process& here = process();
  Proxy* proxy = request == here.handles.request_null ? nullptr : proxy_of(here.proxies, request);
  return proxy && proxy->persistent && !proxy->active ? proxy : nullptr;
}

void start(Proxy& proxy) {
  proxy.completion.reset();
  proxy.active = true;
  proxy.execute = run_start;
  proxy.brief = true;
  process().communication_thread.submit(proxy);
}

int dispose(Proxy& proxy) {
  static constinit Next<decltype(&::MPI_Request_free)> next("MPI_Request_free");
  process().table.remove(proxy);
  process().table.lacks(proxy, 0);
  if (proxy.real == process().handles.request_null) return MPI_SUCCESS;
  MPI_Request real = proxy.real;  // by which MPI_Grequest_complete will name it
  const int code = next.get()(&real);
  if (proxy.partitions != 0) process().table.nudge();  // see mpi/requests.hpp: no other poll is made beside this one
  return code;
}

// Sends that nobody waits for, at most: beyond, senders wait, and the receiver's pace is theirs.
constexpr std::size_t detached_at_most = 1024;

}  // namespace

bool may_return_early(std::size_t bytes, int dest, int tag, MPI_Comm comm) {
  constexpr int tags_everywhere = 32767;  // the least MPI_TAG_UB
  const Process& here = process();
  return bytes <= here.inline_bytes.load(std::memory_order_relaxed) && here.table.detached() < detached_at_most &&
         tag >= 0 && tag <= tags_everywhere && dest >= 0 && dest < known_communicators().size_of(comm);
}

void learn(MPI_Comm comm) { known_communicators().learn(comm); }

void made_ready(MPI_Request request, int partitions) {
  Process& here = process();
  if (Proxy* proxy = is_none(request) ? nullptr : proxy_of(here.proxies, request))
    here.table.lacks(*proxy, proxy->lacking - partitions);
}

namespace routed {

int MPI_Start(MPI_Request* request) { return routed::MPI_Startall(1, request); }

// What the MPI finds wrong is told when the request completes.
int MPI_Startall(int count, MPI_Request requests[]) {
  if (on_communication_thread()) refuse_callback("MPI_Startall");
  for (int i = 0; i < count; ++i)
    if (!startable(requests[i])) return MPI_ERR_REQUEST;
  for (int i = 0; i < count; ++i)
    if (Proxy* proxy = startable(requests[i])) start(*proxy);
  return MPI_SUCCESS;
}

int MPI_Request_free(MPI_Request* request) {
  if (on_communication_thread()) refuse_callback("MPI_Request_free");
  Process& here = process();
  Proxy* proxy = *request == here.handles.request_null ? nullptr : proxy_of(here.proxies, *request);
  if (!proxy) return MPI_ERR_REQUEST;
  // What completes a generalised request may come after this (MPI 4.1, section 13.2), and gives it back then.
  bool stays = false;
  const int code = local([&] {
    stays = proxy->general && !proxy->completion.done();
    proxy->detached = stays;
    return dispose(*proxy);
  });
  if (!stays) here.proxies.give_back(*proxy);
  *request = here.handles.request_null;
  return code;
}

}  // namespace routed

KnownTypes& known_types() {
  static auto* types = new KnownTypes;  // never destroyed: threads may send until the process ends
  return *types;
}

KnownCommunicators& known_communicators() {
  static auto* communicators = new KnownCommunicators;
  return *communicators;
}

void KnownTypes::learn() {
  const MpiHandles handles;
  sizes_.clear();
  for (MPI_Datatype type : {handles.byte, handles.char_, handles.int_, handles.double_, handles.float_, handles.long_,
                            handles.unsigned_char, handles.unsigned_, handles.unsigned_long}) {
    int size = 0;
    if (PE_PMPI(MPI_Type_size)(type, &size) == MPI_SUCCESS && size > 0)
      sizes_.emplace_back(type, static_cast<std::size_t>(size));
  }
}

void KnownCommunicators::learn(MPI_Comm comm) {
  if (size_of(comm) > 0) return;
  int between = 0;
  int size = 0;
  if (comm == MpiHandles{}.comm_null || PE_PMPI(MPI_Comm_test_inter)(comm, &between) != MPI_SUCCESS) return;
  const int code = between ? PE_PMPI(MPI_Comm_remote_size)(comm, &size) : PE_PMPI(MPI_Comm_size)(comm, &size);
  if (code != MPI_SUCCESS) return;
  Entry& entry = entries_[place_of(comm)];
  entry.key.store(0, std::memory_order_release);
  entry.size.store(size, std::memory_order_release);
  entry.key.store(key_of(comm), std::memory_order_release);
}

void KnownCommunicators::forget(MPI_Comm comm) {
  Entry& entry = entries_[place_of(comm)];
  std::uintptr_t key = key_of(comm);
  entry.key.compare_exchange_strong(key, 0);
}

}  // namespace progress_engine::offload
