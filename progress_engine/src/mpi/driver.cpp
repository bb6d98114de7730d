// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/driver.hpp"

#include <functional>
#include <stdexcept>
#include <vector>

#include "mpi/hooks.hpp"
#include "mpi/own_communicator.hpp"
#include "mpi/symbols.hpp"

namespace progress_engine {
namespace {

// Calls MPIX_Stream_progress(MPIX_STREAM_NULL): one pass over all that MPICH >= 4.1 has to do.
#ifdef PE_HAS_MPIX_STREAM_NULL
class StreamDriver : public MpiDriver {
 public:
  StreamDriver(void* function, const MpiHandles& handles)
      : progress_(reinterpret_cast<decltype(&MPIX_Stream_progress)>(function)), stream_(handles.stream_null) {}

  void poll() override { progress_(stream_); }
  std::string name() const override { return "mpix_stream_progress"; }

  static std::unique_ptr<MpiDriver> make(const MpiHandles& handles) {
    void* function = find_symbol("PMPIX_Stream_progress");
    if (!function) function = find_symbol("MPIX_Stream_progress");
    return function ? std::make_unique<StreamDriver>(function, handles) : nullptr;
  }

 private:
  decltype(&MPIX_Stream_progress) progress_;
  MPIX_Stream stream_;
};
#endif

// Tests a receive that nobody will ever send to: each test is one pass of the MPI's progress. (MPI_Iprobe is not: on a
// communicator of one process MPICH skips it, and Open MPI progresses only the point-to-point layer.)
class TestDriver : public MpiDriver {
 public:
  TestDriver(const MpiHandles& handles, Origin origin) : self_(make_own_communicator(handles, origin)) {
    if (PE_PMPI(MPI_Irecv)(&byte_, 1, handles.byte, 0, 0, self_->communicator(), &request_) != MPI_SUCCESS)
      throw std::runtime_error("a receive from oneself could not be posted");
  }
  ~TestDriver() override {
    PE_PMPI(MPI_Cancel)(&request_);
    PE_PMPI(MPI_Wait)(&request_, MPI_STATUS_IGNORE);
  }
  TestDriver(const TestDriver&) = delete;
  TestDriver& operator=(const TestDriver&) = delete;

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

// Goes on to the next candidate when the program's requests complete although polls, many of them, never moved a thing.
class SwitchingDriver : public MpiDriver {
 public:
  explicit SwitchingDriver(std::vector<std::unique_ptr<MpiDriver>> candidates) : candidates_(std::move(candidates)) {}

  void poll() override {
    const Uncounted uncounted;
    candidates_[current_.load(std::memory_order_relaxed)]->poll();
  }
  std::string name() const override { return candidates_[current_]->name(); }

  void after_burst(const BurstResult& result, std::uint64_t completed) override {
    if (result.productive > 0 || idle_polls_ == 0) {
      idle_polls_ = 0;
      completed_before_ = completed;
    }
    idle_polls_ += result.polls;
    if (idle_polls_ < patience || completed - completed_before_ < patience / 16) return;
    idle_polls_ = 0;
    if (current_ + 1 < candidates_.size()) ++current_;
  }

 private:
  static constexpr std::uint64_t patience = 4096;
  std::vector<std::unique_ptr<MpiDriver>> candidates_;
  std::atomic<std::size_t> current_{0};
  std::uint64_t idle_polls_ = 0;
  std::uint64_t completed_before_ = 0;
};

}  // namespace

std::unique_ptr<MpiDriver> make_driver(const std::string& wanted, const MpiHandles& handles, Origin origin) {
  std::vector<std::unique_ptr<MpiDriver>> candidates;
#ifdef PE_HAS_MPIX_STREAM_NULL
  if (wanted != "test")
    if (auto stream = StreamDriver::make(handles)) candidates.push_back(std::move(stream));
#endif
  if (wanted == "stream" && candidates.empty())
    throw std::runtime_error("driver=stream needs MPIX_Stream_progress, which this MPI does not have; use driver=auto");
  if (wanted != "stream") candidates.push_back(std::make_unique<TestDriver>(handles, origin));
  return std::make_unique<SwitchingDriver>(std::move(candidates));
}

}  // namespace progress_engine
