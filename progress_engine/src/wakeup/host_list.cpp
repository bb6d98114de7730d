// SPDX-License-Identifier: BSD-3-Clause
#include "wakeup/host_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <stdexcept>

namespace progress_engine {
namespace {

constexpr std::size_t most_hosts = 1 << 20;

// At commas outside of brackets.
std::vector<std::string_view> parts_of(std::string_view list) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t at = 0; at <= list.size(); ++at) {
    const bool end = at == list.size() || (list[at] == ',' && depth == 0);
    if (!end) {
      depth += (list[at] == '[' ? 1 : 0) - (list[at] == ']' ? 1 : 0);
      continue;
    }
    if (at > begin) parts.push_back(list.substr(begin, at - begin));
    begin = at + 1;
  }
  return parts;
}

std::optional<unsigned long> number(std::string_view text) {
  unsigned long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

// "01-03" -> 01, 02, 03; leading zeros stay.
std::vector<std::string> numbers_of(std::string_view range) {
  const auto dash = range.find('-');
  const auto low = number(range.substr(0, dash));
  const auto high = dash == std::string_view::npos ? low : number(range.substr(dash + 1));
  if (!low || !high || *high < *low || *high - *low >= most_hosts) return {};
  const auto width = std::min<std::size_t>(dash == std::string_view::npos ? range.size() : dash, 20);
  std::vector<std::string> numbers;
  for (unsigned long i = 0; i <= *high - *low; ++i) numbers.push_back(fmt::format("{:0{}}", *low + i, width));
  return numbers;
}

// One part; several pairs of brackets multiply.
std::vector<std::string> expand(std::string_view part) {
  const auto open = part.find('[');
  if (open == std::string_view::npos) return {std::string(part)};
  const auto close = part.find(']', open);
  if (close == std::string_view::npos) return {};
  const auto tails = expand(part.substr(close + 1));
  std::vector<std::string> values;
  for (const auto range : parts_of(part.substr(open + 1, close - open - 1))) {
    const auto more = numbers_of(range);
    if (more.empty() || (values.size() + more.size()) * tails.size() > most_hosts) return {};
    values.insert(values.end(), more.begin(), more.end());
  }
  std::vector<std::string> hosts;
  for (const auto& value : values)
    for (const auto& tail : tails) hosts.push_back(fmt::format("{}{}{}", part.substr(0, open), value, tail));
  return hosts;
}

}  // namespace

std::vector<std::string> expand_hosts(std::string_view list) {
  std::vector<std::string> hosts;
  for (const auto part : parts_of(list)) {
    const auto more = expand(part);
    if (more.empty() || hosts.size() + more.size() > most_hosts) return {};
    hosts.insert(hosts.end(), more.begin(), more.end());
  }
  return hosts;
}

std::vector<std::string> apply_host_pattern(const std::string& pattern, const std::vector<std::string>& hosts) {
  if (pattern.empty()) return hosts;
  if (pattern.find('*') == std::string::npos) {
    auto named = expand_hosts(pattern);
    if (named.empty())
      throw std::runtime_error(fmt::format("bell_hosts: '{}' is no list as node[01-16],login", pattern));
    return named;
  }
  std::vector<std::string> applied;
  for (const auto& host : hosts) {
    std::string name;
    for (const char c : pattern) name += c == '*' ? host : std::string(1, c);
    applied.push_back(name);
  }
  return applied;
}

}  // namespace progress_engine
