// SPDX-License-Identifier: BSD-3-Clause
// libprogress_core through its C API only, as another library would use it.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <string>
#include <thread>

#include "progress_engine/core.h"

namespace {

pe_core_attributes defaults() {
  pe_core_attributes attributes;
  pe_core_attributes_init(&attributes);
  return attributes;
}

pe_core* make(const pe_core_attributes& attributes) {
  pe_core* core = nullptr;
  EXPECT_EQ(pe_core_create(&attributes, &core), 0) << pe_core_error();
  return core;
}

int count_to_three(void* argument) { return ++*static_cast<int*>(argument) == 3 ? PE_DONE : PE_AGAIN; }

TEST(CoreApi, EveryQueueRunsWhatIsSubmittedWithAndWithoutLocality) {
  for (const char* queue : {"submission", "lock", "lock-free"})
    for (const int locality : {0, 1}) {
      auto attributes = defaults();
      attributes.topology = "package:2 core:2 pu:1";
      attributes.queue = queue;
      attributes.locality = locality;
      pe_core* core = make(attributes);
      EXPECT_EQ(pe_core_places(core), locality ? 7 : 1);
      for (int place = 0; place < pe_core_places(core); ++place) {
        int polls = 0;
        pe_ltask task;
        pe_ltask_init(&task, count_to_three, &polls);
        EXPECT_EQ(pe_core_submit(core, &task, place), 0);
        EXPECT_EQ(pe_core_wait(core, &task), 0);
        EXPECT_EQ(pe_ltask_done(&task), 1);
        EXPECT_EQ(polls, 3);
      }
      pe_core_destroy(core);
    }
}

TEST(CoreApi, TellsThePlaces) {
  auto attributes = defaults();
  attributes.topology = "package:2 core:2 pu:1";
  pe_core* core = make(attributes);
  const int leaf = pe_core_place_of_cpu(core, 3);
  EXPECT_STREQ(pe_core_place_kind(core, leaf), "Core");
  EXPECT_STREQ(pe_core_place_kind(core, pe_core_parent(core, leaf)), "Package");
  EXPECT_EQ(pe_core_parent(core, PE_ROOT), -1);
  EXPECT_EQ(pe_core_parent(core, 99), -1);
  EXPECT_STREQ(pe_core_place_kind(core, 99), "");
  EXPECT_GE(pe_core_here(core), 0);
  pe_core_destroy(core);
}

struct Wrong {
  const char* says;
  void (*make)(pe_core_attributes&);
};

TEST(CoreApi, RefusesWrongAttributesWithASentence) {
  const std::array<Wrong, 6> wrongs = {{
      {"'fifo'", [](auto& attributes) { attributes.queue = "fifo"; }},
      {"'socket'", [](auto& attributes) { attributes.idle = "socket"; }},
      {"'round'", [](auto& attributes) { attributes.topology = "round"; }},
      {"idle_us", [](auto& attributes) { attributes.idle_us = -1; }},
      {"capacity", [](auto& attributes) { attributes.capacity = 0; }},
      {"pe_core_attributes_init", [](auto& attributes) { attributes.size = 1; }},
  }};
  for (const auto& wrong : wrongs) {
    auto attributes = defaults();
    wrong.make(attributes);
    pe_core* core = nullptr;
    EXPECT_EQ(pe_core_create(&attributes, &core), EINVAL);
    EXPECT_EQ(core, nullptr);
    EXPECT_NE(std::string(pe_core_error()).find(wrong.says), std::string::npos) << pe_core_error();
  }
}

TEST(CoreApi, RefusesAPlaceThatIsNone) {
  pe_core* core = make(defaults());
  int polls = 0;
  pe_ltask task;
  pe_ltask_init(&task, count_to_three, &polls);
  EXPECT_EQ(pe_core_submit(core, &task, 10000), EINVAL);
  EXPECT_EQ(pe_core_submit(core, &task, -1), EINVAL);
  pe_core_destroy(core);
}

TEST(CoreApi, SaysThatALockFreeQueueIsFull) {
  auto attributes = defaults();
  attributes.queue = "lock-free";
  attributes.capacity = 2;
  attributes.idle = "none";
  attributes.timer_us = 0;
  pe_core* core = make(attributes);
  std::array<int, 3> polls{};
  std::array<pe_ltask, 3> tasks;
  for (std::size_t i = 0; i < 3; ++i) {
    pe_ltask_init(&tasks[i], count_to_three, &polls[i]);
    EXPECT_EQ(pe_core_submit(core, &tasks[i], PE_ROOT), i < 2 ? 0 : ENOSPC);
  }
  pe_core_destroy(core);
}

struct Waiter {
  pe_core* core;
  int result = 0;
};

TEST(CoreApi, AnLtaskMayNotWait) {
  pe_core* core = make(defaults());
  Waiter waiter{.core = core};
  pe_ltask task;
  pe_ltask_init(
      &task,
      [](void* argument) {
        auto& self = *static_cast<Waiter*>(argument);
        int polls = 0;
        pe_ltask other;
        pe_ltask_init(&other, count_to_three, &polls);
        self.result = pe_core_wait(self.core, &other);
        return PE_DONE;
      },
      &waiter);
  pe_core_submit(core, &task, PE_ROOT);
  EXPECT_EQ(pe_core_wait(core, &task), 0);
  EXPECT_EQ(waiter.result, EDEADLK);
  pe_core_destroy(core);
}

TEST(CoreApi, DestroyingNothingIsAllowed) { pe_core_destroy(nullptr); }

}  // namespace
