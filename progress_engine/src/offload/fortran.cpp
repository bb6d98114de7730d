// SPDX-License-Identifier: BSD-3-Clause
// Requests in Fortran are integers (MPI 4.1, section 19.3.4). Where C's are pointers, the MPI cannot convert ours: they
// get integers far above those that an MPI gives out. Where C's are integers, Fortran's are the same.
#include "mpi/hooks.hpp"
#include "offload/calls.hpp"

#undef MPI_Request_c2f
#undef MPI_Request_f2c
#undef PMPI_Request_c2f
#undef PMPI_Request_f2c

namespace progress_engine::offload {
namespace {

constexpr int first_number = 1 << 30;
using C2f = Next<int (*)(MPI_Request)>;
using F2c = Next<MPI_Request (*)(int)>;

bool ours() { return std::is_pointer_v<MPI_Request> && active() && !on_communication_thread(); }

int to_fortran(C2f& next, MPI_Request request) {
  if (!ours() || is_none(request)) return next.get()(request);
  return first_number + static_cast<int>(proxy_of(active_process.load()->proxies, request)->number);
}

MPI_Request to_c(F2c& next, int number) {
  if (!ours() || number < first_number) return next.get()(number);
  Proxy* proxy = active_process.load()->proxies.find(static_cast<std::uint32_t>(number - first_number));
  return proxy ? handle_of(*proxy) : next.get()(0);
}

}  // namespace
}  // namespace progress_engine::offload

using namespace progress_engine;

PE_INTERPOSED int request_c2f(MPI_Request request) __asm__("MPI_Request_c2f");
int request_c2f(MPI_Request request) {
  static constinit offload::C2f next("MPI_Request_c2f");
  return offload::to_fortran(next, request);
}

PE_INTERPOSED int profiled_request_c2f(MPI_Request request) __asm__("PMPI_Request_c2f");
int profiled_request_c2f(MPI_Request request) {
  static constinit offload::C2f next("PMPI_Request_c2f");
  return offload::to_fortran(next, request);
}

PE_INTERPOSED MPI_Request request_f2c(int number) __asm__("MPI_Request_f2c");
MPI_Request request_f2c(int number) {
  static constinit offload::F2c next("MPI_Request_f2c");
  return offload::to_c(next, number);
}

PE_INTERPOSED MPI_Request profiled_request_f2c(int number) __asm__("PMPI_Request_f2c");
MPI_Request profiled_request_f2c(int number) {
  static constinit offload::F2c next("PMPI_Request_f2c");
  return offload::to_c(next, number);
}
