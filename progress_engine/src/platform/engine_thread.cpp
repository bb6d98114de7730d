// SPDX-License-Identifier: BSD-3-Clause
#include "platform/engine_thread.hpp"

#include <memory>
#include <system_error>
#include <utility>

#include "platform/placement.hpp"
#include "platform/scheduling.hpp"

namespace progress_engine {
namespace {

struct Start {
  const char* name;
  std::function<void()> body;
};

void* enter(void* argument) {
  const std::unique_ptr<Start> start(static_cast<Start*>(argument));
  pthread_setname_np(pthread_self(), start->name);
  bind_this_thread_to(cpus_of_process());  // what the kernel refuses stays as it was
  start->body();
  return nullptr;
}

}  // namespace

pthread_t start_engine_thread(const char* name, std::function<void()> body) {
  auto start = std::make_unique<Start>(name, std::move(body));
  const ProgramSignalsBlocked blocked;  // the floating-point mode is inherited as well
  pthread_t thread{};
  const int error = pthread_create(&thread, nullptr, enter, start.get());
  if (error != 0) throw std::system_error(error, std::generic_category(), "a thread could not be started");
  [[maybe_unused]] const Start* const its_own = start.release();
  return thread;
}

}  // namespace progress_engine
