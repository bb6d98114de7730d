// SPDX-License-Identifier: BSD-3-Clause
// What a simulated rank runs: a coroutine, so that a program reads like one although thousands of them take turns.
#pragma once

#include <coroutine>
#include <exception>
#include <utility>

namespace simulated {

// co_await calls them on an object: were they static, each call would be found fault with.
// NOLINTBEGIN(readability-convert-member-functions-to-static)

/// Begins when it is awaited or started; ends with its frame.
class Task {
 public:
  struct promise_type {  // NOLINT(readability-identifier-naming): the standard's name
    std::coroutine_handle<> awaiting = std::noop_coroutine();
    std::exception_ptr error;

    Task get_return_object() { return Task(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    auto final_suspend() noexcept {
      struct Back {
        bool await_ready() noexcept { return false; }
        std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> ended) noexcept {
          return ended.promise().awaiting;
        }
        void await_resume() noexcept {}
      };
      return Back{};
    }
    void return_void() {}
    void unhandled_exception() { error = std::current_exception(); }
  };

  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (handle_) {
      handle_.destroy();
    }
  }

  /// Of a rank's whole program: the first step; others follow as what it awaits happens.
  void start() { handle_.resume(); }
  [[nodiscard]] bool ended() const { return handle_.done(); }
  /// What it ended with, if that was an error.
  void rethrow() const {
    if (handle_.promise().error) {
      std::rethrow_exception(handle_.promise().error);
    }
  }

  auto operator co_await() noexcept {
    struct Awaiting {
      std::coroutine_handle<promise_type> handle;
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) noexcept {
        handle.promise().awaiting = caller;
        return handle;
      }
      void await_resume() {
        if (handle.promise().error) {
          std::rethrow_exception(handle.promise().error);
        }
      }
    };
    return Awaiting{handle_};
  }

 private:
  std::coroutine_handle<promise_type> handle_;
};

// NOLINTEND(readability-convert-member-functions-to-static)

}  // namespace simulated
