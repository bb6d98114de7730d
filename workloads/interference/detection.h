// SPDX-License-Identifier: BSD-3-Clause
// How a thread that waits for a message spends its time between two looks at it (MPI_Test).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "interference/doorbell.h"

namespace workloads {

class Detection {
 public:
  Detection() = default;
  virtual ~Detection() = default;
  Detection(const Detection&) = delete;
  Detection& operator=(const Detection&) = delete;
  Detection(Detection&&) = delete;
  Detection& operator=(Detection&&) = delete;

  /// Before a look: what comes from here on ends the next wait().
  virtual void arm() {}
  /// After a look in vain. Always ends by itself, after some 100 us to 1 ms: a signal that was missed costs latency.
  virtual void wait() = 0;
};

/// spin, pause, yield, sleep, epoll, futex, mwait-c0, mwait-c1.
const std::vector<std::string>& detection_names();

/// Whether the partner must ring after each message.
bool needs_doorbell(const std::string& name);

/// The method of this name. `doorbell`: null unless it needs one. Null, and a sentence in `why_not`, where this machine
/// or the ranks' places do not offer it.
std::unique_ptr<Detection> make_detection(const std::string& name, Doorbell* doorbell, std::string& why_not);

}  // namespace workloads
