// SPDX-License-Identifier: BSD-3-Clause
#include "model.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "common/errors.h"
#include "common/parameters.h"

namespace simulated {

std::string sha256(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1) {
    throw std::runtime_error("OpenSSL's libcrypto computes no SHA-256 here");
  }
  std::string text;
  for (unsigned i = 0; i < size; ++i) {
    text += fmt::format("{:02x}", digest.at(i));
  }
  return text;
}

namespace {

using workloads::UsageError;

/// Reads a model's numbers one after the other, in an order that never changes: so a draw is the same for all MPIs.
class Reader {
 public:
  Reader(const Json& file, std::string place, std::uint64_t draw)
      : file_(file), place_(std::move(place)), drawn_(draw != 0), generator_(draw) {}

  [[nodiscard]] const Json& of(const char* group, const char* name) const {
    if (!file_.contains(group) || !file_[group].is_object() || !file_[group].contains(name)) {
      fail(group, name, "is missing");
    }
    return file_[group][name];
  }

  double number(const char* group, const char* name) {
    const Json& entry = of(group, name);
    return number(entry, group, name, deviation());
  }

  std::vector<double> numbers(const char* group, const char* name) {
    const Json& entries = of(group, name);
    if (!entries.is_array()) {
      fail(group, name, "must be a list of numbers");
    }
    std::vector<double> all;
    for (const Json& entry : entries) {
      all.push_back(number(entry, group, name, deviation()));
    }
    return all;
  }

  /// Nothing where the file has none; the others' draws are the same.
  std::optional<double> number_if_there(const char* group, const char* name) {
    const double drawn = deviation();
    const bool there = file_.contains(group) && file_[group].is_object() && file_[group].contains(name);
    return there ? std::optional(number(file_[group][name], group, name, drawn)) : std::nullopt;
  }

  [[nodiscard]] bool flag(const char* group, const char* name) const {
    const Json& entry = of(group, name);
    if (!entry.is_boolean()) {
      fail(group, name, "must be true or false");
    }
    return entry.get<bool>();
  }

  [[nodiscard]] std::string word(const char* name) const {
    if (!file_.contains(name) || !file_[name].is_string()) {
      throw UsageError(fmt::format("{}: {} is missing, or no text", place_, name));
    }
    return file_[name].get<std::string>();
  }

 private:
  /// A standard normal, cut at two and halved: the interval is one of 95 %.
  double deviation() { return std::clamp(std::normal_distribution<>()(generator_), -2.0, 2.0) / 2.0; }

  [[nodiscard]] double number(const Json& entry, const char* group, const char* name, double deviation) const {
    double value = 0;
    if (entry.is_number()) {
      value = entry.get<double>();
    } else if (entry.is_object() && entry.contains("value") && entry["value"].is_number()) {
      value = entry["value"].get<double>();
      if (drawn_) {
        value += deviation * (deviation < 0 ? value - entry.value("low", value) : entry.value("high", value) - value);
      }
    } else {
      fail(group, name, "must be a number, or an object with value, low and high");
    }
    if (!std::isfinite(value) || value < 0) {
      fail(group, name, "must be finite and not negative");
    }
    return value;
  }

  [[noreturn]] void fail(const char* group, const char* name, const char* what) const {
    throw UsageError(fmt::format("{}: {}.{} {}", place_, group, name, what));
  }

  const Json& file_;
  std::string place_;
  bool drawn_;
  std::mt19937_64 generator_;
};

Bytes bytes(double value) { return static_cast<Bytes>(std::llround(value)); }

}  // namespace

void Computation::slow_down(double factor) {
  unit *= factor;
  for (auto* rate : {&fft_operation, &copied_byte, &streamed_byte}) {
    if (*rate) {
      **rate *= factor;
    }
  }
}

Seconds rate_of(const std::optional<Seconds>& rate, const char* name, const char* study) {
  if (!rate) {
    throw UsageError(
        fmt::format("--model: it has no computation.{}: give ./bench calibrate-model a session of study {}, "
                    "too",
                    name, study));
  }
  return *rate;
}

Model model_from_json(const std::string& text, const std::string& place, std::uint64_t draw) {
  const Json file = workloads::object_from_json(text, place);
  if (file.contains("shaper")) {
    throw UsageError(
        fmt::format("{}: shaper: no line here has a token bucket. Fit the model again (./bench calibrate-model); where "
                    "its burst_bytes is 0, take the group out",
                    place));
  }
  Reader read(file, place, draw);
  Model model;
  model.mpi = read.word("mpi");
  model.schedules = read.word("schedules");
  if (model.schedules != "mpich" && model.schedules != "openmpi") {
    throw UsageError(fmt::format("{}: schedules: mpich or openmpi is wanted, not {}", place, model.schedules));
  }
  model.protocol.eager_bytes = bytes(read.number("protocol", "eager_bytes"));
  model.protocol.handshake = read.flag("protocol", "handshake");
  model.protocol.zero_copy = read.flag("protocol", "zero_copy");
  model.protocol.send_buffer_bytes = bytes(read.number("protocol", "send_buffer_bytes"));
  model.protocol.receive_buffer_bytes = bytes(read.number("protocol", "receive_buffer_bytes"));
  if (!model.protocol.zero_copy &&
      (model.protocol.send_buffer_bytes == 0 || model.protocol.receive_buffer_bytes == 0)) {
    throw UsageError(fmt::format("{}: protocol: a socket has buffers of more than 0 bytes", place));
  }
  model.costs.call = read.number("costs", "call_s");
  model.costs.wake = read.number("costs", "wake_s");
  model.costs.copy_per_byte = read.number("costs", "copy_s_per_byte");
  model.costs.reduce_per_byte = read.number("costs", "reduce_s_per_byte");
  model.async.exists = read.flag("async", "exists");
  model.async.slice = read.number("async", "slice_s");
  model.computation.unit = read.number("computation", "unit_s");
  model.computation.fft_operation = read.number_if_there("computation", "fft_s_per_operation");
  model.computation.copied_byte = read.number_if_there("computation", "copied_s_per_byte");
  model.computation.streamed_byte = read.number_if_there("computation", "streamed_s_per_byte");
  model.costs.managed = read.number("costs", "managed_s");
  model.async.hands_over = read.flag("async", "hands_over");
  for (const double threads : read.numbers("async", "beside")) {
    model.async.beside.push_back(static_cast<int>(std::lround(threads)));
  }
  return model;
}

}  // namespace simulated
