// SPDX-License-Identifier: BSD-3-Clause
// A file descriptor of the engine's, among those of a program that may close them all.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>
#include <utility>

namespace progress_engine {

// Daemons close what they have inherited, which is every number that there may be, and their next files get the numbers
// of ours: those must not be written, read, waited for or closed. So the open file has a mark that its number alone has
// not: the signal of F_SETSIG (fcntl(2)), which is sent to nobody without O_ASYNC. (fstat(2) does not tell: all
// eventfds and epolls have one inode.) Who closes it between the question and the use, in another thread, goes unseen.
// Where the mark is refused, as kernels in user space may, the number is believed.
class OwnDescriptor {
 public:
  OwnDescriptor() = default;
  // Takes what the call `what` has returned. Throws std::system_error if that is no descriptor.
  OwnDescriptor(int number, const char* what) : number_(number) {
    if (number_ < 0) throw std::system_error(errno, std::generic_category(), what);
    const int mark = next_mark();
    if (fcntl(number_, F_SETSIG, mark) == 0) mark_ = mark;
  }
  ~OwnDescriptor() { close(); }
  OwnDescriptor(OwnDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)), mark_(other.mark_) {}
  OwnDescriptor& operator=(OwnDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    std::swap(mark_, other.mark_);
    return *this;
  }

  // For the next call of the kernel, once is_ours() has said so.
  int number() const { return number_; }
  // Whether it is still open. A system call.
  bool is_ours() const { return number_ >= 0 && (mark_ == 0 || fcntl(number_, F_GETSIG) == mark_); }
  void close() {
    if (is_ours()) ::close(number_);
    number_ = -1;
  }

 private:
  // By turns: a later one of ours may get the number of one that was closed, too.
  static int next_mark() {
    constexpr unsigned first = 34;  // the real-time signals
    constexpr unsigned marks = 31;
    static std::atomic<unsigned> made{0};
    return static_cast<int>(first + made.fetch_add(1, std::memory_order_relaxed) % marks);
  }

  int number_ = -1;
  int mark_ = 0;
};

}  // namespace progress_engine
