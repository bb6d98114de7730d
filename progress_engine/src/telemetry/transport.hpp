// SPDX-License-Identifier: BSD-3-Clause
// By what the MPI carries messages, as the process shows it: an MPI that is asked for another thread level may choose
// otherwise, and then a run with the engine says nothing about one without.
#pragma once

#include <string>
#include <vector>

namespace progress_engine {

struct Transport {
  std::string component;               // of Open MPI's point-to-point layer: "ob1", "ucx", "cm"; "" in other MPIs
  std::vector<std::string> libraries;  // that carry messages and are loaded, sorted
  std::vector<std::string> devices;    // of networks, and for copies between processes, that are open, sorted
  bool tcp = false;                    // there are connections
  bool udp = false;

  // "ob1, tcp"; "unknown" if nothing shows.
  std::string words() const;
};

// Of this process, at this moment. Takes about a millisecond.
Transport look_at_transport();

}  // namespace progress_engine
