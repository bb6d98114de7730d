// SPDX-License-Identifier: BSD-3-Clause
#include "core/neighbours.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <new>
#include <system_error>
#include <utility>

namespace progress_engine {
namespace {

constexpr std::size_t page_size = 4096;
constexpr std::uint64_t mark = 0x314c4c4542455000;  // tells our pages, and this layout of them

struct Page {
  std::uint64_t mark;
  Bell bell;
};
static_assert(sizeof(Page) <= page_size);

Page& as_page(void* memory) { return *static_cast<Page*>(memory); }

int checked(int result, const char* what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  return result;
}

// Programs' names may be longer than a socket's: FNV-1a of theirs, and the user.
std::string prefix_of(const std::string& program) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : program) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return fmt::format("progress-engine/{}/{:016x}/", getuid(), hash);
}

// The three numbers of "rank/process/descriptor"; -1 for what is none.
std::array<int, 3> numbers_in(const std::string& text) {
  std::array<int, 3> numbers{-1, -1, -1};
  const char* at = text.data();
  const char* end = at + text.size();
  for (int& number : numbers) {
    const auto [stop, error] = std::from_chars(at, end, number);
    if (error != std::errc()) number = -1;
    at = stop + (stop != end ? 1 : 0);
  }
  return numbers;
}

struct Address {
  explicit Address(const std::string& name) {
    address.sun_family = AF_UNIX;
    const auto length = std::min(name.size(), sizeof address.sun_path - 1);
    std::memcpy(address.sun_path + 1, name.data(), length);
    size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
  sockaddr_un address{};
  socklen_t size;
};

int make_file() {
  const int file = checked(memfd_create("progress-engine-bell", MFD_CLOEXEC | MFD_ALLOW_SEALING), "memfd_create");
  if (ftruncate(file, page_size) == 0) fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
  return file;
}

// The file of another process may be anything: that number may have been given away again.
bool is_a_page(int descriptor) {
  struct stat status{};
  return fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == getuid() &&
         std::cmp_equal(status.st_size, page_size);
}

}  // namespace

MappedBell::MappedBell(int descriptor, bool fresh) {
  if (!is_a_page(descriptor)) return;
  void* memory = mmap(nullptr, page_size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED) return;
  if (fresh) new (memory) Page{.mark = mark, .bell = {}};
  if (as_page(memory).mark == mark)
    page_ = memory;
  else
    munmap(memory, page_size);
}

MappedBell::~MappedBell() {
  if (page_) munmap(page_, page_size);
}

MappedBell::MappedBell(MappedBell&& other) noexcept : page_(std::exchange(other.page_, nullptr)) {}

Bell& MappedBell::bell() const { return as_page(page_).bell; }

PublishedBell::PublishedBell(const std::string& program, int rank) : file_(make_file()), page_(file_, true) {
  try {
    if (!page_) throw std::system_error(errno, std::generic_category(), "mmap");
    socket_ = checked(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "socket");
    const Address address(fmt::format("{}{}/{}/{}", prefix_of(program), rank, getpid(), file_));
    checked(bind(socket_, address.get(), address.size), "bind");
  } catch (...) {
    if (socket_ >= 0) close(socket_);
    close(file_);
    throw;
  }
}

PublishedBell::~PublishedBell() {
  close(socket_);
  close(file_);
}

void PublishedBell::drain() const {
  char byte = 0;
  while (recv(socket_, &byte, 1, 0) >= 0) {
  }
}

// A full queue is as good: then it has been woken already.
void PublishedBell::wake(const std::string& name) const {
  const Address address(name);
  [[maybe_unused]] const auto sent = sendto(socket_, "", 1, MSG_NOSIGNAL, address.get(), address.size);
}

std::vector<Neighbour> find_neighbours(const std::string& program) {
  const auto prefix = prefix_of(program);
  std::vector<Neighbour> found;
  std::ifstream sockets("/proc/self/net/unix");
  for (std::string line; std::getline(sockets, line);) {
    const auto at = line.find('@' + prefix);
    if (at == std::string::npos) continue;
    Neighbour neighbour{-1, line.substr(at + 1)};
    neighbour.rank = numbers_in(neighbour.name.substr(prefix.size()))[0];
    if (neighbour.rank >= 0) found.push_back(neighbour);
  }
  return found;
}

MappedBell map_bell(const std::string& name) {
  const auto place = name.find('/', name.find('/', name.find('/') + 1) + 1);  // after the prefix
  if (place == std::string::npos) return {};
  const auto [rank, process, descriptor] = numbers_in(name.substr(place + 1));
  if (process < 0 || descriptor < 0) return {};
  const int file = open(fmt::format("/proc/{}/fd/{}", process, descriptor).c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return {};
  MappedBell bell(file, false);
  close(file);
  return bell;
}

}  // namespace progress_engine
