// SPDX-License-Identifier: BSD-3-Clause
#include "profile/message_log.hpp"

namespace progress_engine::profile {

Message MessageLog::start(const Stream& stream, Nanoseconds at) {
  const std::scoped_lock lock(mutex_);
  if (stream.peer == Stream::anyone) from_anyone_ = true;
  if ((stream.peer < 0 && stream.peer != Stream::everyone) || number_ >= most_) return {};
  const auto [found, is_new] = streams_.try_emplace(stream, static_cast<std::int32_t>(known_.size()));
  if (is_new) known_.push_back({stream, {}});
  auto& messages = known_[static_cast<std::size_t>(found->second)].messages;
  messages.push_back({at, at});
  ++number_;
  return {found->second, static_cast<std::uint32_t>(messages.size() - 1)};
}

void MessageLog::completing(const Messages& messages, Nanoseconds at) {
  const std::scoped_lock lock(mutex_);
  for (const auto& message : messages)
    if (message.stream >= 0) known_[static_cast<std::size_t>(message.stream)].messages[message.number].completing = at;
}

void MessageLog::cancelled(const Messages& messages) {
  const std::scoped_lock lock(mutex_);
  for (const auto& message : messages) {
    if (message.stream < 0) continue;
    auto& end = known_[static_cast<std::size_t>(message.stream)].end;
    end = std::min<std::size_t>(end, message.number);
  }
}

void MessageLog::wait(Wait wait, const Messages& messages) {
  if (wait.time < shortest_wait) return;
  const std::scoped_lock lock(mutex_);
  const auto most_waits = most_ / 2;
  if (messages.count == 0 && waits_.size() < most_waits) waits_.push_back(wait);
  wait.share /= std::max<Nanoseconds>(messages.count, 1);
  for (const auto& message : messages) {
    wait.message = message;
    if (waits_.size() < most_waits) waits_.push_back(wait);
  }
}

std::uint64_t MessageLog::next_call() {
  const std::scoped_lock lock(mutex_);
  return ++calls_;
}

}  // namespace progress_engine::profile
