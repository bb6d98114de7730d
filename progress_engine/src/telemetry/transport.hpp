// SPDX-License-Identifier: BSD-3-Clause
// By what the MPI carries messages, as the process shows it: an MPI that is asked for another thread level may choose
// otherwise, and then a run with the engine says nothing about one without.
#pragma once

#include <string>
#include <vector>

#include "telemetry/fields.hpp"

namespace progress_engine {

struct Transport {
  PE_FIELDS(PE_TRANSPORT)

  // "ob1, tcp"; "unknown" if nothing shows.
  std::string words() const;
};

// Of this process, at this moment. Takes about a millisecond.
Transport look_at_transport();

}  // namespace progress_engine
