// SPDX-License-Identifier: BSD-3-Clause
// Requests in Fortran are integers (MPI 4.1, section 19.3.4). Where C's are pointers, the MPI cannot convert ours: they
// get integers far above those that an MPI gives out. Where C's are integers, Fortran's are the same, and the MPI may
// have these functions as macros alone (Intel's).
#include "mpi/hooks.hpp"
#include "offload/calls.hpp"

#undef MPI_Request_c2f
#undef MPI_Request_f2c
#undef PMPI_Request_c2f
#undef PMPI_Request_f2c

namespace progress_engine::offload {
namespace {

constexpr int first_number = 1 << 30;

// The MPI's own conversion of whole words (hooks.hpp); where it has none, both languages' requests are the same.
class Own {
 public:
  explicit Own(const char* name) : function_(reinterpret_cast<Word (*)(Word)>(find_symbol(name))) {}
  Word operator()(Word request) const { return function_ ? function_(request) : request; }

 private:
  Word (*function_)(Word);
};

bool ours() { return active() && !on_communication_thread(); }

template <typename Handle = MPI_Request>
Word to_fortran(const Own& own, Word request) {
  if constexpr (std::is_pointer_v<Handle>) {
    if (const auto handle = as<Handle>(request); ours() && !is_none(handle))
      return first_number + static_cast<int>(proxy_of(active_process.load()->proxies, handle)->number);
  }
  return own(request);
}

template <typename Handle = MPI_Request>
Word to_c(const Own& own, Word request) {
  if constexpr (std::is_pointer_v<Handle>) {
    if (const int number = as<int>(request); ours() && number >= first_number) {
      Proxy* proxy = active_process.load()->proxies.find(static_cast<std::uint32_t>(number - first_number));
      return proxy ? reinterpret_cast<Word>(handle_of<Handle>(*proxy)) : own(0);
    }
  }
  return own(request);
}

}  // namespace
}  // namespace progress_engine::offload

using namespace progress_engine;

#define PE_CONVERSION(function, name, convert)             \
  PE_INTERPOSED Word function(Word request) __asm__(name); \
  Word function(Word request) {                            \
    static const offload::Own own(name);                   \
    return offload::convert(own, request);                 \
  }

PE_CONVERSION(request_c2f, "MPI_Request_c2f", to_fortran)
PE_CONVERSION(request_f2c, "MPI_Request_f2c", to_c)
PE_CONVERSION(profiled_request_c2f, "PMPI_Request_c2f", to_fortran)
PE_CONVERSION(profiled_request_f2c, "PMPI_Request_f2c", to_c)
