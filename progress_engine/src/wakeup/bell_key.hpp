// SPDX-License-Identifier: BSD-3-Clause
// The key of the user's bells: a file in the home that all nodes share, which nobody else may read.
#pragma once

#include <string>
#include <vector>

#include "wakeup/siphash.hpp"

namespace progress_engine {

// "~/.config/progress-engine/bell.key"; empty where the user has no home.
std::string usual_key_file();

// Reads the key, and makes it where the file is missing: of several processes that do so at once, on whatever nodes,
// all get the same. Throws std::runtime_error with a sentence: it cannot be made, or is not the user's alone.
SipKey read_or_make_key(const std::string& path);

// Where a launcher names no hosts, each node of a job puts its own name beside the key, for the others to find. Of
// `job` (a word for a file's name). The name goes with the object; what a killed process leaves is removed by the first
// who comes a day later. Throws std::runtime_error with a sentence: it cannot be put there, and nobody would find it.
class PublishedHost {
 public:
  PublishedHost(const std::string& key_file, const std::string& job, const std::string& host);
  ~PublishedHost();
  PublishedHost(const PublishedHost&) = delete;
  PublishedHost& operator=(const PublishedHost&) = delete;
  // Now and then, lest it looks as if its process had been killed.
  void keep_fresh() const;

 private:
  std::string path_;
};
std::vector<std::string> published_hosts(const std::string& key_file, const std::string& job);

}  // namespace progress_engine
