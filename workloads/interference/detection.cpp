// SPDX-License-Identifier: BSD-3-Clause
#include "interference/detection.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <new>
#include <system_error>
#include <thread>

#include "common/mpi_process.h"
#include "interference/mwait.h"

namespace workloads {
namespace {

std::uint32_t* address(std::atomic<std::uint32_t>& word) { return reinterpret_cast<std::uint32_t*>(&word); }

}  // namespace

Doorbell::Doorbell() {
  require(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node_));
  int size = 0;
  int rank = 0;
  MPI_Comm_size(node_, &size);
  MPI_Comm_rank(node_, &rank);
  if (size != 2) {
    return;
  }
  void* memory = nullptr;
  const auto bytes = static_cast<MPI_Aint>(rank == 0 ? 2 * sizeof(Line) : 0);
  require(MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, node_, static_cast<void*>(&memory), &window_));
  MPI_Aint there = 0;
  int unit = 0;
  require(MPI_Win_shared_query(window_, 0, &there, &unit, static_cast<void*>(&memory)));
  // Each rank has the memory at another address, but on pages of the same: both skip as many bytes.
  const auto skip = -reinterpret_cast<std::uintptr_t>(memory) % alignof(Line);
  auto* place = static_cast<std::byte*>(memory) + skip;
  line_ = rank == 0 ? new (place) Line{} : reinterpret_cast<Line*>(place);
  require(MPI_Barrier(node_));
}

Doorbell::~Doorbell() {
  if (window_ != MPI_WIN_NULL) {
    MPI_Win_free(&window_);
  }
  MPI_Comm_free(&node_);
}

void Doorbell::ring() noexcept {
  line_->rings.fetch_add(1);  // sequentially consistent, like the sleeper's: one of the two sees the other
  if (line_->asleep.load() != 0) {
    syscall(SYS_futex, address(line_->rings), FUTEX_WAKE, 1, nullptr, nullptr, 0);
  }
}

void Doorbell::sleep(std::uint32_t seen, std::chrono::nanoseconds bound) noexcept {
  const timespec limit{.tv_sec = 0, .tv_nsec = bound.count()};
  line_->asleep.store(1);
  syscall(SYS_futex, address(line_->rings), FUTEX_WAIT, seen, &limit, nullptr, 0);
  line_->asleep.store(0);
}

namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""us;

void pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#elif defined(__powerpc64__)
  asm volatile("or 27,27,27" ::: "memory");
#endif
}

class Spin final : public Detection {
 public:
  void wait() override {}
};

class Pause final : public Detection {
 public:
  void wait() override {
    constexpr int hints = 16;
    for (int i = 0; i < hints; ++i) {
      pause();
    }
  }
};

class Yield final : public Detection {
 public:
  void wait() override { sched_yield(); }
};

class Sleep final : public Detection {
 public:
  Sleep() { prctl(PR_SET_TIMERSLACK, 1UL); }  // of this thread; the usual 50 us would double the period
  ~Sleep() override { prctl(PR_SET_TIMERSLACK, 0UL); }
  void wait() override { std::this_thread::sleep_for(50us); }
};

/// Parked on the MPI's own sockets, edge triggered: the MPI, which reads them, is not disturbed.
class Epoll final : public Detection {
 public:
  Epoll() : epoll_(epoll_create1(EPOLL_CLOEXEC)) { watch_sockets(); }
  ~Epoll() override { close(epoll_); }

  [[nodiscard]] bool watches() const noexcept { return watched_ > 0; }

  void wait() override {
    std::array<epoll_event, 16> events{};
    if (epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), 1) == 0) {
      watch_sockets();  // one may have come since
    }
  }

 private:
  void watch_sockets() {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
      std::error_code gone;
      if (std::filesystem::read_symlink(entry.path(), gone).string().starts_with("socket:")) {
        epoll_event event{.events = EPOLLIN | EPOLLET, .data = {}};
        watched_ += epoll_ctl(epoll_, EPOLL_CTL_ADD, std::stoi(entry.path().filename()), &event) == 0 ? 1 : 0;
      }
    }
  }

  int epoll_;
  int watched_ = 0;
};

class OnDoorbell : public Detection {
 public:
  explicit OnDoorbell(Doorbell& doorbell) : doorbell_(doorbell) {}
  void arm() override { seen_ = doorbell_.rings().load(); }

 protected:
  [[nodiscard]] Doorbell& doorbell() noexcept { return doorbell_; }
  [[nodiscard]] std::uint32_t seen() const noexcept { return seen_; }

 private:
  Doorbell& doorbell_;
  std::uint32_t seen_ = 0;
};

class Futex final : public OnDoorbell {
 public:
  using OnDoorbell::OnDoorbell;
  void wait() override { doorbell().sleep(seen(), 1ms); }
};

class MonitorWait final : public OnDoorbell {
 public:
  MonitorWait(Doorbell& doorbell, Mwait kind, Depth depth) : OnDoorbell(doorbell), kind_(kind), depth_(depth) {}
  void wait() override { mwait_for_store(kind_, doorbell().rings(), seen(), depth_); }

 private:
  Mwait kind_;
  Depth depth_;
};

std::unique_ptr<Detection> make_epoll(std::string& why_not) {
  auto made = std::make_unique<Epoll>();
  if (!made->watches()) {
    why_not = "epoll needs sockets, and this MPI has none open here";
    return nullptr;
  }
  return made;
}

std::unique_ptr<Detection> make_on_doorbell(const std::string& name, Doorbell& doorbell, std::string& why_not) {
  if (!doorbell.usable()) {
    why_not = name +
              " needs a partner that stores into this node's memory: both ranks on one node, and an MPI that "
              "shares its memory";
    return nullptr;
  }
  if (name == "futex") {
    return std::make_unique<Futex>(doorbell);
  }
  if (mwait_here() == Mwait::none) {
    why_not = name + " needs UMWAIT or MWAITX, and this CPU shows neither";
    return nullptr;
  }
  return std::make_unique<MonitorWait>(doorbell, mwait_here(), name == "mwait-c0" ? Depth::light : Depth::deep);
}

}  // namespace

const std::vector<std::string>& detection_names() {
  static const std::vector<std::string> names{"spin",  "pause", "yield",    "sleep",
                                              "epoll", "futex", "mwait-c0", "mwait-c1"};
  return names;
}

bool needs_doorbell(const std::string& name) { return name == "futex" || name.starts_with("mwait"); }

std::unique_ptr<Detection> make_detection(const std::string& name, Doorbell* doorbell, std::string& why_not) {
  if (doorbell != nullptr) {
    return make_on_doorbell(name, *doorbell, why_not);
  }
  if (name == "epoll") {
    return make_epoll(why_not);
  }
  if (name == "sleep") {
    return std::make_unique<Sleep>();
  }
  if (name == "yield") {
    return std::make_unique<Yield>();
  }
  if (name == "pause") {
    return std::make_unique<Pause>();
  }
  return std::make_unique<Spin>();
}

}  // namespace workloads
