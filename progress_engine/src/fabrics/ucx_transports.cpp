// SPDX-License-Identifier: BSD-3-Clause
#include "fabrics/ucx_transports.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <sstream>
#include <string_view>
#include <utility>

#include "platform/platform.hpp"

namespace progress_engine {
namespace {

using Status = std::int8_t;
constexpr Status ok = 0;
constexpr Status in_progress = 1;
constexpr unsigned force = 0;  // UCP_EP_CLOSE_MODE_FORCE: nobody is told

// The library's own functions, as they are in all its versions 1.x.
struct Calls {
  Status (*read_config)(const char* prefix, const char* file, void** config);
  Status (*modify_config)(void* config, const char* name, const char* value);
  void (*release_config)(void* config);
  Status (*init)(unsigned major, unsigned minor, const void* parameters, const void* config, void** context);
  void (*clean_up)(void* context);
  Status (*create_worker)(void* context, const void* parameters, void** worker);
  void (*destroy_worker)(void* worker);
  unsigned (*progress)(void* worker);
  Status (*get_address)(void* worker, void** address, std::size_t* length);
  void (*release_address)(void* worker, void* address);
  Status (*create_endpoint)(void* worker, const void* parameters, void** endpoint);
  void (*print)(void* endpoint, std::FILE* file);
  void* (*close)(void* endpoint, unsigned mode);
  Status (*check)(void* request);
  void (*free)(void* request);
};

template <typename Function>
bool find(Function& function, const char* name) {
  function = reinterpret_cast<Function>(find_symbol(name));
  return function != nullptr;
}

bool find_all(Calls& calls) {
  return find(calls.read_config, "ucp_config_read") && find(calls.modify_config, "ucp_config_modify") &&
         find(calls.release_config, "ucp_config_release") && find(calls.init, "ucp_init_version") &&
         find(calls.clean_up, "ucp_cleanup") && find(calls.create_worker, "ucp_worker_create") &&
         find(calls.destroy_worker, "ucp_worker_destroy") && find(calls.progress, "ucp_worker_progress") &&
         find(calls.get_address, "ucp_worker_get_address") &&
         find(calls.release_address, "ucp_worker_release_address") && find(calls.create_endpoint, "ucp_ep_create") &&
         find(calls.print, "ucp_ep_print_info") && find(calls.close, "ucp_ep_close_nb") &&
         find(calls.check, "ucp_request_check_status") && find(calls.free, "ucp_request_free");
}

// Goes as it came.
template <typename End>
class Held {
 public:
  Held(void* object, End end) : object_(object), end_(std::move(end)) {}
  ~Held() { end_(object_); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  void* object_;
  End end_;
};

// What fails here is told once, by the engine: UCX would print it for each rank, where it may use no network at all.
class Silence {
 public:
  Silence() {
    Get get{};
    if (find(get, "ucs_global_opts_get_value") && find(set_, "ucs_global_opts_set_value") &&
        get(name, before_.data(), before_.size()) == ok)
      silent_ = set_(name, "fatal") == ok;
  }
  ~Silence() {
    if (silent_) set_(name, before_.data());
  }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

 private:
  using Get = Status (*)(const char* name, char* value, std::size_t size);
  using Set = Status (*)(const char* name, const char* value);
  static constexpr const char* name = "LOG_LEVEL";
  Set set_ = nullptr;
  std::array<char, 64> before_{};
  bool silent_ = false;
};

// ucp_worker_params_t and ucp_ep_params_t begin with a mask of the fields that are given; the first one of the latter
// is an address.
struct Parameters {
  std::uint64_t mask = 0;
  void* first = nullptr;
  std::array<std::uint64_t, 32> others{};
};

std::string text_of(const Calls& calls, void* endpoint) {
  char* memory = nullptr;
  std::size_t size = 0;
  std::FILE* file = open_memstream(&memory, &size);
  if (!file) return "";
  calls.print(endpoint, file);
  std::fclose(file);
  const std::unique_ptr<char, void (*)(void*)> held(memory, std::free);
  return {memory, size};
}

// A null pointer is success, and the last values of a pointer are errors.
bool is_request(void* result) {
  constexpr std::uintptr_t errors = 100;
  const auto value = reinterpret_cast<std::uintptr_t>(result);
  return value != 0 && value < std::uintptr_t{0} - errors;
}

void close_endpoint(const Calls& calls, void* worker, void* endpoint) {
  void* request = calls.close(endpoint, force);
  if (!is_request(request)) return;
  for (const Nanoseconds end = now() + seconds(1); calls.check(request) == in_progress && now() < end;)
    calls.progress(worker);
  calls.free(request);
}

struct Tried {
  std::string transports;
  std::string failure;  // which step was not possible
  bool operator==(const Tried&) const = default;
};

Tried failed(const char* what, Status status) {
  return {.transports = "", .failure = std::string(what) + " (status " + std::to_string(status) + ")"};
}

Tried try_out(const Calls& calls, const UcxInit& init, const char* prefix) {
  void* config = nullptr;
  if (const Status status = calls.read_config(prefix, nullptr, &config); status != ok)
    return failed("no configuration", status);
  const Held config_held(config, calls.release_config);
  for (const char* devices : {"SHM_DEVICES", "SELF_DEVICES"})
    if (const Status status = calls.modify_config(config, devices, ""); status != ok) return failed(devices, status);
  void* context = nullptr;
  if (const Status status = calls.init(init.major, init.minor, init.parameters, config, &context); status != ok)
    return failed("no context", status);
  const Held context_held(context, calls.clean_up);
  void* worker = nullptr;
  const Parameters nothing;
  if (const Status status = calls.create_worker(context, &nothing, &worker); status != ok)
    return failed("no worker", status);
  const Held worker_held(worker, calls.destroy_worker);
  Parameters to_itself{.mask = 1};
  std::size_t length = 0;
  if (const Status status = calls.get_address(worker, &to_itself.first, &length); status != ok)
    return failed("no address", status);
  const Held address_held(to_itself.first, [&](void* address) { calls.release_address(worker, address); });
  void* endpoint = nullptr;
  if (const Status status = calls.create_endpoint(worker, &to_itself, &endpoint); status != ok)
    return failed("no endpoint", status);
  const Held endpoint_held(endpoint, [&](void* object) { close_endpoint(calls, worker, object); });
  return {.transports = transports_in(text_of(calls, endpoint)), .failure = ""};
}

}  // namespace

// A line is "#    lane[0]:  0:tcp/eth0.0 md[0]   -> md[0]/tcp/sysdev[255] rma_bw#0 am wireup".
std::string transports_in(const std::string& text) {
  std::string found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto lane = line.find("lane[");
    const auto colon = lane == std::string::npos ? lane : line.find("]:", lane);
    if (colon == std::string::npos) continue;
    std::istringstream words(line.substr(colon + 2));
    std::string transport;
    words >> transport;
    found += (found.empty() ? "" : ", ") + transport.substr(transport.find(':') + 1);
    std::string uses;
    for (std::string word; words >> word;)
      if (word.find("md[") == std::string::npos && word != "->" && word != "seg" &&
          word.find_first_not_of("0123456789") != std::string::npos)
        uses += (uses.empty() ? "" : " ") + word;
    found += " (" + uses + ")";
  }
  return found;
}

std::string what_changes(const UcxInit& asked, const UcxInit& more, const char* prefix) {
  Calls calls{};
  if (!find_all(calls)) return "whether UCX's feature WAKEUP changes its transports this UCX cannot say";
  static std::mutex one_at_a_time;  // else the level of the log might stay as Silence sets it
  const std::scoped_lock lock(one_at_a_time);
  const Silence silence;
  const auto without = try_out(calls, asked, prefix);
  const auto with = try_out(calls, more, prefix);
  if (with == without) {
    if (with.failure.empty() && with.transports.empty())
      return "whether UCX's feature WAKEUP changes its transports this UCX does not print";
    return "";
  }
  if (with.failure != without.failure)
    return "UCX cannot be tried out with its feature WAKEUP as without it: " +
           (with.failure.empty() ? without : with).failure;
  return "with its feature WAKEUP UCX would choose other transports: " + with.transports + " instead of " +
         without.transports;
}

}  // namespace progress_engine
