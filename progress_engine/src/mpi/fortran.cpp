// SPDX-License-Identifier: BSD-3-Clause
// Requests in Fortran are integers (MPI 4.1, section 19.3.4). Where C's are pointers, the MPI cannot convert ours: they
// get integers far above those that an MPI gives out. Where C's are integers, Fortran's are the same, and the MPI may
// have these functions as macros alone (Intel's). The standard's ABI has others in their place: MPI_Request_toint and
// MPI_Request_fromint.
#include "mpi/call.hpp"
#include "mpi/offload.hpp"

#undef MPI_Request_c2f
#undef MPI_Request_f2c
#undef PMPI_Request_c2f
#undef PMPI_Request_f2c

namespace progress_engine {
namespace {

using Conversion = Word (*)(Word);

// The MPI's own conversion of whole words (mpi_header.hpp); null where it has none: both languages' requests are the
// same.
Conversion own(const char* name) { return reinterpret_cast<Conversion>(find_symbol(name)); }

Word to_fortran(Conversion own, Word request) {
  if (const OffloadLibrary* offload = offload_in_use.load()) return offload->request_to_fortran(own, request);
  return own ? own(request) : request;
}

Word to_c(Conversion own, Word request) {
  if (const OffloadLibrary* offload = offload_in_use.load()) return offload->request_to_c(own, request);
  return own ? own(request) : request;
}

}  // namespace
}  // namespace progress_engine

using namespace progress_engine;

#define PE_CONVERSION(function, name, convert)             \
  PE_INTERPOSED Word function(Word request) __asm__(name); \
  Word function(Word request) {                            \
    static const Conversion conversion = own(name);        \
    return convert(conversion, request);                   \
  }

PE_CONVERSION(request_c2f, "MPI_Request_c2f", to_fortran)
PE_CONVERSION(request_f2c, "MPI_Request_f2c", to_c)
PE_CONVERSION(request_toint, "MPI_Request_toint", to_fortran)
PE_CONVERSION(request_fromint, "MPI_Request_fromint", to_c)
PE_CONVERSION(profiled_request_toint, "PMPI_Request_toint", to_fortran)
PE_CONVERSION(profiled_request_fromint, "PMPI_Request_fromint", to_c)
PE_CONVERSION(profiled_request_c2f, "PMPI_Request_c2f", to_fortran)
PE_CONVERSION(profiled_request_f2c, "PMPI_Request_f2c", to_c)

// MPICH's and Intel MPI's library of Fortran tells the C library so, by a function of no header, that a generalised
// request's callbacks are Fortran's. Of all such functions it alone takes a request.
#define PE_LANGUAGE_OF_REQUEST(function, name)                                    \
  PE_INTERPOSED void function(Word request) __asm__(name);                        \
  void function(Word request) {                                                   \
    static const auto next = reinterpret_cast<void (*)(Word)>(find_symbol(name)); \
    const OffloadLibrary* offload = offload_in_use.load();                        \
    if (next) next(offload ? offload->real_request(request) : request);           \
  }

PE_LANGUAGE_OF_REQUEST(request_of_fortran, "MPII_Grequest_set_lang_f77")
PE_LANGUAGE_OF_REQUEST(request_of_wide_fortran, "MPII_Grequest_set_lang_f77_ilp64")
