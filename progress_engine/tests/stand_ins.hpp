// SPDX-License-Identifier: BSD-3-Clause
// Progress functions, an event source and a fabric's functions that tests give an engine.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string_view>

#include "core/engine.hpp"
#include "fabrics/fabrics.hpp"
#include "wait/event_source.hpp"

namespace progress_engine {

// An event source without sockets: a communication thread sleeps on it until its bound or an interrupt.
class NoTraffic : public EpollEvents {
 public:
  NoTraffic() : EpollEvents(Sockets::none) {}
  bool any() const override { return true; }
  bool carries() const override { return true; }
  PollEffect after_poll() override { return {.needed = true}; }
};

// Counts its polls.
class CountingProgress : public ProgressFunction {
 public:
  explicit CountingProgress(std::atomic<int>& polls) : polls_(polls) {}
  void poll() override {
    EXPECT_FALSE(busy_.exchange(true)) << "two threads in the progress function at once";
    ++polls_;
    busy_ = false;
  }

 private:
  std::atomic<int>& polls_;
  std::atomic<bool> busy_{false};
};

inline std::unique_ptr<Engine> make_engine(std::string_view preset, std::atomic<int>& polls,
                                           const Values& overrides = {}) {
  return std::make_unique<Engine>(make_policy(resolve_values(preset, overrides)),
                                  std::make_unique<CountingProgress>(polls), nullptr);
}

// A message over a fabric that moves data by itself: each of its steps is ready some time after the one before, and is
// taken by a poll that takes no longer than one that finds nothing.
class Handshakes : public ProgressFunction {
 public:
  explicit Handshakes(std::atomic<int>& missing) : missing_(missing) {}
  void poll() override {
    if (missing_ == 0 || now() - last_ < microseconds(200)) return;
    last_ = now();
    --missing_;
  }

 private:
  std::atomic<int>& missing_;
  Nanoseconds last_ = 0;
};

// What an MPI calls in place of a function of a fabric's library.
// `theirs`: the library's own; null: that which this process finds by the name.
template <typename Function>
Function called_for(std::span<const Replaced> calls, std::string_view name, void* theirs = nullptr) {
  const auto call = std::ranges::find_if(calls, [&](const Replaced& one) { return name == one.name; });
  *call->theirs = theirs ? theirs : dlsym(RTLD_DEFAULT, call->name);
  return reinterpret_cast<Function>(call->ours);
}

}  // namespace progress_engine
