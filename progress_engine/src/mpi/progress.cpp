// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/progress.hpp"

#include <array>
#include <stdexcept>
#include <string>

#include "mpi/mpi_header.hpp"
#include "platform/breakable.hpp"

namespace progress_engine {
namespace {

// Calls MPIX_Stream_progress(MPIX_STREAM_NULL): one pass over all that MPICH >= 4.1 has to do.
#ifdef PE_HAS_MPIX_STREAM_NULL
class StreamProgress : public NamedProgressFunction {
 public:
  StreamProgress(void* function, const MpiHandles& handles)
      : progress_(reinterpret_cast<decltype(&MPIX_Stream_progress)>(function)), stream_(handles.stream_null) {}

  void poll() override { progress_(stream_); }
  std::string name() const override { return "mpix_stream_progress"; }

  static std::unique_ptr<NamedProgressFunction> make(const MpiHandles& handles) {
    void* function = find_symbol("PMPIX_Stream_progress");
    if (!function) function = find_symbol("MPIX_Stream_progress");
    return function ? std::make_unique<StreamProgress>(function, handles) : nullptr;
  }

 private:
  decltype(&MPIX_Stream_progress) progress_;
  MPIX_Stream stream_;
};
#endif

// A communicator of this process alone, for the engine's own messages to itself.
class OwnCommunicator {
 public:
  OwnCommunicator() = default;
  virtual ~OwnCommunicator() = default;
  OwnCommunicator(const OwnCommunicator&) = delete;
  OwnCommunicator& operator=(const OwnCommunicator&) = delete;
  MPI_Comm communicator() const { return communicator_; }

 protected:
  MPI_Comm communicator_{};
};

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
  OfSession(const MpiHandles& handles, Origin origin) {
    const bool plain = origin == Origin::plain_session;
    open(handles, plain);
    const auto level = thread_level();
    const bool enough = plain || level == "MPI_THREAD_MULTIPLE";
    if (enough && make(handles)) return;
    PE_PMPI(MPI_Session_finalize)(&session_);
    if (!enough)
      throw std::runtime_error("the MPI's sessions provide thread level " + level +
                               " only, the engine needs MPI_THREAD_MULTIPLE");
    throw std::runtime_error("a communicator of the process set mpi://SELF could not be made");
  }
  ~OfSession() override {
    PE_PMPI(MPI_Comm_free)(&communicator_);
    PE_PMPI(MPI_Session_finalize)(&session_);
  }

 private:
  void open(const MpiHandles& handles, bool plain) {
    MPI_Info info{};
    PE_PMPI(MPI_Info_create)(&info);
    if (!plain) PE_PMPI(MPI_Info_set)(info, "thread_level", "MPI_THREAD_MULTIPLE");
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

// Freed with the object, which must go before MPI does. Throws std::runtime_error.
std::unique_ptr<OwnCommunicator> make_own_communicator(const MpiHandles& handles, Origin origin) {
#ifdef PE_HAS_MPI_SESSIONS
  if (origin != Origin::world && !broken("sessions")) return std::make_unique<OfSession>(handles, origin);
#endif
  (void)origin;
  return std::make_unique<OfWorld>(handles);
}

// Tests a receive that nobody will ever send to: each test is one pass of the MPI's progress. (MPI_Iprobe is not: on a
// communicator of one process MPICH skips it, and Open MPI progresses only the point-to-point layer.)
class ReceiveProgress : public NamedProgressFunction {
 public:
  ReceiveProgress(const MpiHandles& handles, Origin origin) : self_(make_own_communicator(handles, origin)) {
    if (PE_PMPI(MPI_Irecv)(&byte_, 1, handles.byte, 0, 0, self_->communicator(), &request_) != MPI_SUCCESS)
      throw std::runtime_error("a receive from oneself could not be posted");
  }
  ~ReceiveProgress() override {
    PE_PMPI(MPI_Cancel)(&request_);
    PE_PMPI(MPI_Wait)(&request_, MPI_STATUS_IGNORE);
  }
  ReceiveProgress(const ReceiveProgress&) = delete;
  ReceiveProgress& operator=(const ReceiveProgress&) = delete;

  void poll() override {
    int flag = 0;
    PE_PMPI(MPI_Test)(&request_, &flag, MPI_STATUS_IGNORE);
  }
  std::string name() const override { return "mpi_test"; }

 private:
  std::unique_ptr<OwnCommunicator> self_;
  MPI_Request request_{};
  char byte_ = 0;
};

}  // namespace

std::vector<std::unique_ptr<NamedProgressFunction>> make_progress_functions(const std::string& wanted,
                                                                            const MpiHandles& handles, Origin origin) {
  std::vector<std::unique_ptr<NamedProgressFunction>> functions;
#ifdef PE_HAS_MPIX_STREAM_NULL
  if (wanted != "test")
    if (auto stream = StreamProgress::make(handles)) functions.push_back(std::move(stream));
#endif
  if (wanted == "stream" && functions.empty())
    throw std::runtime_error("driver=stream needs MPIX_Stream_progress, which this MPI does not have; use driver=auto");
  if (wanted != "stream") functions.push_back(std::make_unique<ReceiveProgress>(handles, origin));
  return functions;
}

}  // namespace progress_engine
