// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/own_communicator.hpp"

#include <array>
#include <stdexcept>
#include <string>

#include "core/breakable.hpp"
#include "mpi/symbols.hpp"

namespace progress_engine {
namespace {

// Only MPI_COMM_SELF may be duplicated: a collective call on more would wait for ranks without the engine.
class OfWorld : public OwnCommunicator {
 public:
  explicit OfWorld(const MpiHandles& handles) {
    if (PE_PMPI(MPI_Comm_dup)(broken("self-only") ? handles.comm_world : handles.comm_self, &communicator_) !=
        MPI_SUCCESS)
      throw std::runtime_error("MPI_COMM_SELF could not be duplicated");
    PE_PMPI(MPI_Comm_set_errhandler)(communicator_, handles.errors_return);
  }
  ~OfWorld() override { PE_PMPI(MPI_Comm_free)(&communicator_); }
};

#ifdef PE_HAS_MPI_SESSIONS
// Without a world there is no MPI_COMM_SELF. The session is the engine's own, so that the program may end its sessions
// in any order.
class OfSession : public OwnCommunicator {
 public:
  explicit OfSession(const MpiHandles& handles) {
    open(handles);
    const auto level = thread_level();
    if (level == "MPI_THREAD_MULTIPLE" && make(handles)) return;
    PE_PMPI(MPI_Session_finalize)(&session_);
    if (level != "MPI_THREAD_MULTIPLE")
      throw std::runtime_error("the MPI's sessions provide thread level " + level +
                               " only, the engine needs MPI_THREAD_MULTIPLE");
    throw std::runtime_error("a communicator of the process set mpi://SELF could not be made");
  }
  ~OfSession() override {
    PE_PMPI(MPI_Comm_free)(&communicator_);
    PE_PMPI(MPI_Session_finalize)(&session_);
  }

 private:
  void open(const MpiHandles& handles) {
    MPI_Info info{};
    PE_PMPI(MPI_Info_create)(&info);
    PE_PMPI(MPI_Info_set)(info, "thread_level", "MPI_THREAD_MULTIPLE");
    const int code = PE_PMPI(MPI_Session_init)(info, handles.errors_return, &session_);
    PE_PMPI(MPI_Info_free)(&info);
    if (code != MPI_SUCCESS) throw std::runtime_error("a session for the engine could not be opened");
  }

  std::string thread_level() {
    MPI_Info info{};
    std::array<char, MPI_MAX_INFO_VAL + 1> value{};
    int size = static_cast<int>(value.size());
    int found = 0;
    if (PE_PMPI(MPI_Session_get_info)(session_, &info) != MPI_SUCCESS) return "unknown";
    PE_PMPI(MPI_Info_get_string)(info, "thread_level", &size, value.data(), &found);
    PE_PMPI(MPI_Info_free)(&info);
    return found ? value.data() : "unknown";
  }

  bool make(const MpiHandles& handles) {
    MPI_Group group{};
    if (PE_PMPI(MPI_Group_from_session_pset)(session_, "mpi://SELF", &group) != MPI_SUCCESS) return false;
    const int code = PE_PMPI(MPI_Comm_create_from_group)(group, "progress_engine", handles.info_null,
                                                         handles.errors_return, &communicator_);
    PE_PMPI(MPI_Group_free)(&group);
    return code == MPI_SUCCESS;
  }

  MPI_Session session_{};
};
#endif

}  // namespace

std::unique_ptr<OwnCommunicator> make_own_communicator(const MpiHandles& handles, Origin origin) {
#ifdef PE_HAS_MPI_SESSIONS
  if (origin == Origin::session && !broken("sessions")) return std::make_unique<OfSession>(handles);
#endif
  (void)origin;
  return std::make_unique<OfWorld>(handles);
}

}  // namespace progress_engine
