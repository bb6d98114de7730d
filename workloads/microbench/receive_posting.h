// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace workloads {

/// When the receive is posted: before the send can start, or by the receiver's first step after the start, when the
/// message may be there already.
enum class ReceivePosting : std::uint8_t { preposted, late };

}  // namespace workloads
