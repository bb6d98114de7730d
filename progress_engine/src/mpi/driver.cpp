// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/driver.hpp"

#include <stdexcept>

#include "mpi/own_communicator.hpp"
#include "mpi/symbols.hpp"

namespace progress_engine {
namespace {

// Calls MPIX_Stream_progress(MPIX_STREAM_NULL): one pass over all that MPICH >= 4.1 has to do.
#ifdef PE_HAS_MPIX_STREAM_NULL
class StreamDriver : public NamedDriver {
 public:
  StreamDriver(void* function, const MpiHandles& handles)
      : progress_(reinterpret_cast<decltype(&MPIX_Stream_progress)>(function)), stream_(handles.stream_null) {}

  void poll() override { progress_(stream_); }
  std::string name() const override { return "mpix_stream_progress"; }

  static std::unique_ptr<NamedDriver> make(const MpiHandles& handles) {
    void* function = find_symbol("PMPIX_Stream_progress");
    if (!function) function = find_symbol("MPIX_Stream_progress");
    return function ? std::make_unique<StreamDriver>(function, handles) : nullptr;
  }

 private:
  decltype(&MPIX_Stream_progress) progress_;
  MPIX_Stream stream_;
};
#endif

// A receive that nobody will ever send to: each look at it is one pass of the MPI's progress. (MPI_Iprobe is not: on a
// communicator of one process MPICH skips it, and Open MPI progresses only the point-to-point layer.)
class PendingReceive {
 public:
  PendingReceive(const MpiHandles& handles, Origin origin) : self_(make_own_communicator(handles, origin)) {
    if (PE_PMPI(MPI_Irecv)(&byte_, 1, handles.byte, 0, 0, self_->communicator(), &request_) != MPI_SUCCESS)
      throw std::runtime_error("a receive from oneself could not be posted");
  }
  ~PendingReceive() {
    PE_PMPI(MPI_Cancel)(&request_);
    PE_PMPI(MPI_Wait)(&request_, MPI_STATUS_IGNORE);
  }
  PendingReceive(const PendingReceive&) = delete;
  PendingReceive& operator=(const PendingReceive&) = delete;

  int test(int& flag) { return PE_PMPI(MPI_Test)(&request_, &flag, MPI_STATUS_IGNORE); }
  int get_status(int& flag) { return PE_PMPI(MPI_Request_get_status)(request_, &flag, MPI_STATUS_IGNORE); }

 private:
  std::unique_ptr<OwnCommunicator> self_;
  MPI_Request request_{};
  char byte_ = 0;
};

class ReceiveDriver : public NamedDriver {
 public:
  using Look = int (PendingReceive::*)(int& flag);
  ReceiveDriver(std::shared_ptr<PendingReceive> receive, Look look, const char* name)
      : receive_(std::move(receive)), look_(look), name_(name) {}

  void poll() override {
    int flag = 0;
    (*receive_.*look_)(flag);
  }
  std::string name() const override { return name_; }

 private:
  std::shared_ptr<PendingReceive> receive_;
  Look look_;
  const char* name_;
};

}  // namespace

std::vector<std::unique_ptr<NamedDriver>> make_drivers(const std::string& wanted, const MpiHandles& handles,
                                                       Origin origin) {
  std::vector<std::unique_ptr<NamedDriver>> drivers;
  const auto wants = [&](std::string_view name) { return wanted == "auto" || wanted == name; };
#ifdef PE_HAS_MPIX_STREAM_NULL
  if (wants("stream"))
    if (auto stream = StreamDriver::make(handles)) drivers.push_back(std::move(stream));
#endif
  if (wanted == "stream" && drivers.empty())
    throw std::runtime_error("driver=stream needs MPIX_Stream_progress, which this MPI does not have; use driver=auto");
  if (wanted == "stream") return drivers;
  const auto receive = std::make_shared<PendingReceive>(handles, origin);
  if (wants("test")) drivers.push_back(std::make_unique<ReceiveDriver>(receive, &PendingReceive::test, "mpi_test"));
  if (wants("status"))
    drivers.push_back(std::make_unique<ReceiveDriver>(receive, &PendingReceive::get_status, "mpi_request_get_status"));
  return drivers;
}

}  // namespace progress_engine
