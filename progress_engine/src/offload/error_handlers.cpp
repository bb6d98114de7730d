// SPDX-License-Identifier: BSD-3-Clause
#include "offload/error_handlers.hpp"

namespace progress_engine::offload {
namespace {

MPI_Errhandler replace(MPI_Comm communicator, MPI_Errhandler by) {
  MPI_Errhandler before{};
  PE_PMPI(MPI_Comm_get_errhandler)(communicator, &before);
  PE_PMPI(MPI_Comm_set_errhandler)(communicator, by);
  return before;
}

void put_back(MPI_Comm communicator, MPI_Errhandler before) {
  PE_PMPI(MPI_Comm_set_errhandler)(communicator, before);
  PE_PMPI(MPI_Errhandler_free)(&before);  // what MPI_Comm_get_errhandler gave
}

}  // namespace

ErrorsReturn::ErrorsReturn(const MpiHandles& handles)
    : world_{handles.comm_world, replace(handles.comm_world, handles.errors_return)},
      self_{handles.comm_self, replace(handles.comm_self, handles.errors_return)} {}

ErrorsReturn::~ErrorsReturn() {
  put_back(world_.communicator, world_.before);
  put_back(self_.communicator, self_.before);
}

void tell_error_handler(const MpiHandles& handles, MPI_Comm communicator, int code) {
  const bool has_one = communicator != handles.comm_null;
  PE_PMPI(MPI_Comm_call_errhandler)(has_one ? communicator : handles.comm_self, code);
}

}  // namespace progress_engine::offload
