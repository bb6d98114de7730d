// SPDX-License-Identifier: BSD-3-Clause
#include "telemetry/thread_usage.hpp"

#include <sched.h>

#include <fstream>
#include <sstream>
#include <string>

#include "platform/placement.hpp"
#include "platform/platform.hpp"

namespace progress_engine {
namespace {

std::string task_file(int tid, const char* name) { return "/proc/self/task/" + std::to_string(tid) + "/" + name; }

int last_cpu(int tid) {
  std::string line;
  std::ifstream stat(task_file(tid, "stat"));
  std::getline(stat, line);
  const auto name_end = line.rfind(") ");
  if (name_end == std::string::npos) return -1;
  std::istringstream fields(line.substr(name_end + 2));
  std::string field;
  for (int number = 3; number <= 39 && fields >> field; ++number) {  // proc(5): field 39 is the processor
  }
  return fields ? std::stoi(field) : -1;
}

}  // namespace

ThreadUsage usage_of_thread(int tid) {
  ThreadUsage usage{.tid = tid,
                    .cpus_allowed = allowed_cpus(tid),
                    .cpu_last = last_cpu(tid),
                    .cpu_s = 1e-9 * static_cast<double>(cpu_time_of_thread(tid))};
  std::ifstream status(task_file(tid, "status"));
  for (std::string key; status >> key;) {
    if (key == "voluntary_ctxt_switches:") status >> usage.voluntary_switches;
    if (key == "nonvoluntary_ctxt_switches:") status >> usage.involuntary_switches;
  }
  return usage;
}

}  // namespace progress_engine
