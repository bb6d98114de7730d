// SPDX-License-Identifier: BSD-3-Clause
// What this library exports to the interposer that loads it, see mpi/offload.hpp.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>

#include "mpi/abi.hpp"
#include "mpi/mpi_header.hpp"
#include "mpi/routes.hpp"
#include "offload/calls.hpp"
#include "offload/process.hpp"
#include "offload/routes.hpp"
#include "offload/ult.hpp"
#include "platform/loaded_object.hpp"

namespace progress_engine::offload {

constinit thread_local bool makes_own_calls = false;

namespace {

const OffloadHost* the_host = nullptr;

// Whether `caller`, an address in code, belongs to the MPI library or one of its components.
bool is_of_the_mpi(const void* caller) {
  const auto library = library_of(caller);
  static const auto* mpi = new std::string(library_of(find_symbol("PMPI_Init")));  // whatever its vendor calls it
  return library == *mpi || is_mpi_library(library) || is_component(library);
}

bool takes(const void* caller) {
  if (caller == from_any_thread) return true;
  return !makes_own_calls && (!on_communication_thread() || (caller && !is_of_the_mpi(caller)));
}

int execute_for_interposer(const std::function<int()>& call) {
  return execute([&] { return call(); });
}

bool set_waiting(std::string_view method) {
  const auto waiting = ult_waiting_of(method);
  if (waiting) set_ult_waiting(*waiting);
  return waiting.has_value();
}

// ---- requests in Fortran

constexpr int first_number = 1 << 30;

template <typename Handle = MPI_Request>
Word to_fortran(Word (*own)(Word), Word request) {
  if constexpr (std::is_pointer_v<Handle>) {
    if (const auto handle = as<Handle>(request); !on_communication_thread() && !is_none(handle))
      return first_number + static_cast<int>(proxy_of(process().proxies, handle)->number);
  }
  return own ? own(request) : request;
}

template <typename Handle = MPI_Request>
Word real_request(Word request) {
  const Handle real = real_of(as<Handle>(request));
  if constexpr (std::is_pointer_v<Handle>)
    return reinterpret_cast<Word>(real);
  else
    return static_cast<Word>(real);
}

template <typename Handle = MPI_Request>
Word to_c(Word (*own)(Word), Word request) {
  if constexpr (std::is_pointer_v<Handle>) {
    if (const int number = as<int>(request); !on_communication_thread() && number >= first_number) {
      Proxy* proxy = process().proxies.find(static_cast<std::uint32_t>(number - first_number));
      if (proxy) return reinterpret_cast<Word>(handle_of<Handle>(*proxy));
      request = 0;
    }
  }
  return own ? own(request) : request;
}

constexpr OffloadLibrary the_library{
    .routes = &routed::all,
    .takes = takes,
    .on_communication_thread = on_communication_thread,
    .request_to_fortran = to_fortran<>,
    .request_to_c = to_c<>,
    .real_request = real_request<>,
    .initialise = initialise,
    .finalise = finalise,
    .execute = execute_for_interposer,
    .watch_gpus = watch_gpus,
    .pause = pause,
    .after_fork_in_child = after_fork_in_child,
    .is_main_thread = is_main_thread,
    .describe = describe,
    .register_ult_adapter = register_ult_adapter,
    .ult_adapter = ult_adapter,
    .set_ult_waiting = set_waiting,
};

}  // namespace

const OffloadHost& host() { return *the_host; }
const OffloadLibrary& library() { return the_library; }

}  // namespace progress_engine::offload

extern "C" __attribute__((visibility("default"))) const progress_engine::OffloadLibrary* pe_offload_library(
    const progress_engine::OffloadHost& host) {
  using namespace progress_engine;
  offload::the_host = &host;
  look_up_through(host.find_symbol, host.find_object);
  answer_for_missing(host.stand_in_for_absent);
  set_cpus_of_process(host.cpus_of_process());
  return &offload::library();
}
