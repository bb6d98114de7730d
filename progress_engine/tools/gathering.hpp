// SPDX-License-Identifier: BSD-3-Clause
// The progress-runs that one launcher has started on this node, for one of which the others leave word when their
// programs have ended. Nothing of it is in the file system, and nothing outlives the processes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace progress_engine {

class Gathering {
 public:
  // `key`: the same for all of them (program_key()); `rank`: by the launcher, negative where there is none: then it is
  // alone. Who comes first hears the others. Waits for nobody.
  Gathering(std::string key, int rank);
  ~Gathering();
  Gathering(const Gathering&) = delete;
  Gathering& operator=(const Gathering&) = delete;

  // -1 for one that is alone.
  int descriptor() const { return socket_; }
  bool hears() const { return hears_; }
  void tell(const std::string& words);

  struct Heard {
    int rank;
    std::string words;
  };
  // From each of the others, once they have ended: those that have come before this is called, of each rank the first.
  // With `waits` false what is there already.
  std::vector<Heard> hear(bool waits);

 private:
  void join();
  void leave();

  const std::string key_;
  const int rank_;
  int socket_ = -1;
  bool hears_ = true;
};

}  // namespace progress_engine
