// SPDX-License-Identifier: BSD-3-Clause
#include <dirent.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>
#include <string_view>

#include "platform/loaded_object.hpp"
#include "platform/platform.hpp"
#include "telemetry/report.hpp"

namespace progress_engine {
namespace {

// As their files' names begin: UCX, libfabric and its providers, PSM2, verbs, Portals, Open MPI's transports.
constexpr std::array<std::string_view, 9> library_names = {
    "libucp.so", "libuct_", "libfabric", "libpsm2", "libibverbs.so", "libportals", "mca_pml_", "mca_btl_", "mca_mtl_"};
constexpr std::string_view provider_suffix = "-fi.so";
constexpr std::array<std::string_view, 5> device_names = {"/dev/infiniband/", "/dev/cxi", "/dev/hfi1", "/dev/knem",
                                                          "/dev/xpmem"};

bool carries_messages(std::string_view name) {
  return name.ends_with(provider_suffix) ||
         std::ranges::any_of(library_names, [&](auto begin) { return name.starts_with(begin); });
}

// "/usr/lib/libfabric-1a2b.so.1.2" -> "libfabric-1a2b.so"
std::string_view plain_name(std::string_view path) {
  path = name_of_file(path);
  const auto suffix = path.find(".so");
  return suffix == std::string_view::npos ? path : path.substr(0, suffix + 3);
}

// The beginning of a component of Open MPI 4 and 5 (mca_base_component_t): three versions of three numbers, each but
// the first before the name that it belongs to.
struct OpenMpiComponent {
  std::array<int, 3> mca_version;
  std::array<char, 16> project;
  std::array<int, 3> project_version;
  std::array<char, 32> type;
  std::array<int, 3> type_version;
  std::array<char, 64> name;
};

std::string open_mpi_component() {
  const auto* component = static_cast<const OpenMpiComponent*>(find_object("mca_pml_base_selected_component"));
  if (!component || std::strncmp(component->type.data(), "pml", component->type.size()) != 0) return "";
  return {component->name.data(), strnlen(component->name.data(), component->name.size())};
}

void note_socket(Transport& transport, int descriptor) {
  int domain = 0;
  int type = 0;
  int listens = 0;
  socklen_t size = sizeof(int);
  if (getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0 ||
      getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || (domain != AF_INET && domain != AF_INET6))
    return;
  getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size);
  transport.tcp = transport.tcp || (type == SOCK_STREAM && listens == 0);
  transport.udp = transport.udp || type == SOCK_DGRAM;
}

void note_descriptors(Transport& transport) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir("/proc/self/fd"), closedir);
  std::set<std::string> devices;
  while (const dirent* entry = directory ? readdir(directory.get()) : nullptr) {
    std::array<char, 256> target{};
    const auto path = fmt::format("/proc/self/fd/{}", entry->d_name);
    if (readlink(path.c_str(), target.data(), target.size() - 1) < 0) continue;
    const std::string_view name(target.data());
    if (name.starts_with("socket:")) note_socket(transport, static_cast<int>(std::strtol(entry->d_name, nullptr, 10)));
    if (std::ranges::any_of(device_names, [&](auto begin) { return name.starts_with(begin); })) devices.emplace(name);
  }
  transport.devices.assign(devices.begin(), devices.end());
}

}  // namespace

std::string Transport::words() const {
  std::vector<std::string_view> parts;
  if (!component.empty()) parts.emplace_back(component);
  for (const auto& device : devices) parts.emplace_back(device);
  if (tcp) parts.emplace_back("tcp");
  if (udp) parts.emplace_back("udp");
  return parts.empty() ? "unknown" : fmt::format("{}", fmt::join(parts, ", "));
}

Transport look_at_transport() {
  Transport transport;
  transport.component = open_mpi_component();
  std::set<std::string> libraries;
  for (const auto& path : loaded_libraries())
    if (const auto name = plain_name(path); carries_messages(name)) libraries.emplace(name);
  transport.libraries.assign(libraries.begin(), libraries.end());
  note_descriptors(transport);
  return transport;
}

}  // namespace progress_engine
