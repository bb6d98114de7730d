// SPDX-License-Identifier: BSD-3-Clause
// A job whose "nodes" are addresses of this machine's loopback network, for tests of the bell.
#pragma once

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "eventually.hpp"
#include "wakeup/bell.hpp"

namespace progress_engine {

namespace fs = std::filesystem;

// What a file of /proc says of the thread of this process's only keeper; empty before that has its name.
inline std::string told_of_the_keeper(const char* file) {
  for (const auto& task : fs::directory_iterator("/proc/self/task")) {
    std::string name;
    std::string said;
    std::ifstream(task.path() / "comm") >> name;
    if (name == "pe-bell" && std::getline(std::ifstream(task.path() / file), said)) return said;
  }
  return "";
}

class Job : public testing::Test {
 protected:
  static void SetUpTestSuite() { ports_ = 20000 + (getpid() % 500) * 20; }
  void SetUp() override { port_ = ++ports_; }
  void TearDown() override { fs::remove_all(folder_); }

  static std::string node(int number) { return fmt::format("127.0.0.{}", number); }

  // Of rank 0 on node `number`; where no hosts are named, each node writes its own name.
  BellPlan plan_on(int number, const std::vector<std::string>& hosts = {}) const {
    BellPlan plan;
    plan.size = size;
    plan.job = "job";
    plan.hosts = [hosts] { return hosts; };
    plan.key_file = folder_ / "bell.key";
    plan.port = port_;
    plan.address = inet_addr(node(number).c_str());
    return plan;
  }

  // The bell of `rank` on node `number`; who is rung there is noted.
  std::unique_ptr<Bell> bell(int rank, int number, std::atomic<int>& rung, const std::string& job = "job",
                             std::set<int> ranks_here = {}) const {
    BellPlan plan = plan_on(number, {node(1), node(2), node(3)});
    plan.rank = rank;
    plan.job = job;
    plan.interval = microseconds(1);
    ranks_here.insert(rank);
    auto made = std::make_unique<Bell>(plan, [&rung, ranks_here](int target) {
      rung += ranks_here.contains(target) ? 1 : 0;
      return ranks_here.contains(target);
    });
    made->start();
    EXPECT_EQ(made->counts().state, "rings");
    return made;
  }

  // Rings until it is heard, as the engine's turns do.
  static bool reaches(Bell& sender, int rank, const std::atomic<int>& rung) {
    const int before = rung;
    sender.ring(rank);
    return eventually([&] {
      sender.turn();
      return rung > before;
    });
  }

  static constexpr int size = 6;
  static inline int ports_ = 0;
  int port_ = 0;
  const fs::path folder_ = fs::path(testing::TempDir()) / ("bell." + std::to_string(getpid()));
  std::atomic<int> rung1_{0};
  std::atomic<int> rung2_{0};
  std::atomic<int> rung3_{0};
};

}  // namespace progress_engine
