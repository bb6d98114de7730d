// SPDX-License-Identifier: BSD-3-Clause
#include "wakeup/bell_key.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <system_error>

namespace progress_engine {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t digits = 32;
constexpr auto stale = std::chrono::hours(24);
constexpr auto fresh = std::chrono::hours(1);

[[noreturn]] void fail(const std::string& path, const char* what) {
  throw std::runtime_error(fmt::format("the bell's key {} {}", path, what));
}

class File {
 public:
  File(const std::string& path, int flags) : descriptor_(open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0600)) {}
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

// Written under another name first: it is there whole or not at all, and link(2) lets one process win, on NFS too.
void make_key(const std::string& path) {
  SipKey key{};
  if (getrandom(key.data(), sizeof key, 0) != static_cast<ssize_t>(sizeof key)) fail(path, "cannot be made");
  std::error_code ignored;
  const auto folder = fs::path(path).parent_path();
  if (fs::create_directories(folder, ignored)) fs::permissions(folder, fs::perms::owner_all, ignored);
  // By its process's number one would meet what a killed process of that number has left, or another container's.
  std::uint64_t unique = 0;
  if (getrandom(&unique, sizeof unique, 0) != static_cast<ssize_t>(sizeof unique)) fail(path, "cannot be made");
  const auto draft = fmt::format("{}.{:016x}", path, unique);
  const auto text = fmt::format("{:016x}{:016x}\n", key[0], key[1]);
  bool written = false;
  {
    const File file(draft, O_WRONLY | O_CREAT | O_EXCL);
    written = file.get() >= 0 && write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
              fsync(file.get()) == 0;
  }
  const bool made = written && (link(draft.c_str(), path.c_str()) == 0 || errno == EEXIST);
  const int error = errno;
  unlink(draft.c_str());
  if (!made) throw std::runtime_error(fmt::format("the bell's key {} cannot be made: {}", path, std::strerror(error)));
}

bool parse(std::string_view text, std::uint64_t& word) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), word, 16);
  return error == std::errc() && end == text.data() + text.size();
}

// Until the folder can be read no further: other nodes' jobs write in it, and a network's file system may fail.
template <typename Use>
void for_each_in(const fs::path& folder, Use use) {
  std::error_code error;
  for (fs::directory_iterator at(folder, error); !error && at != fs::directory_iterator(); at.increment(error))
    use(*at);
}

fs::path folder_of_hosts(const std::string& key_file) { return fs::path(key_file).parent_path() / "bell.hosts"; }

}  // namespace

std::string usual_key_file() {
  const char* home = std::getenv("HOME");
  if (!home || *home == '\0') {
    // Not getpwuid(), whose answer the program may be reading.
    passwd user{};
    passwd* found = nullptr;
    std::array<char, 4096> text{};
    const bool known = getpwuid_r(geteuid(), &user, text.data(), text.size(), &found) == 0 && found;
    return known && *user.pw_dir != '\0' ? std::string(user.pw_dir) + "/.config/progress-engine/bell.key" : "";
  }
  return std::string(home) + "/.config/progress-engine/bell.key";
}

SipKey read_or_make_key(const std::string& path) {
  if (path.empty()) throw std::runtime_error("the bell's key has no place: the user has no home");
  std::error_code seen_below;
  if (!fs::exists(fs::symlink_status(path, seen_below))) make_key(path);
  const File file(path, O_RDONLY);
  struct stat status{};
  if (file.get() < 0 || fstat(file.get(), &status) != 0) fail(path, "cannot be read");
  if (!S_ISREG(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 077) != 0)
    fail(path, "must be a file of the user's that nobody else may read (mode 0600)");
  std::array<char, digits> text{};
  SipKey key{};
  const bool whole = read(file.get(), text.data(), digits) == static_cast<ssize_t>(digits);
  const std::string_view words(text.data(), digits);
  if (!whole || !parse(words.substr(0, digits / 2), key[0]) || !parse(words.substr(digits / 2), key[1]))
    fail(path, "must hold 32 hexadecimal digits; remove it, and it is made anew");
  return key;
}

PublishedHost::PublishedHost(const std::string& key_file, const std::string& job, const std::string& host)
    : path_(folder_of_hosts(key_file) / (job + "." + host)) {
  std::error_code ignored;
  const auto folder = folder_of_hosts(key_file);
  if (fs::create_directory(folder, ignored)) fs::permissions(folder, fs::perms::owner_all, ignored);
  const auto old = fs::file_time_type::clock::now() - stale;
  for_each_in(folder, [&](const fs::directory_entry& entry) {
    if (entry.last_write_time(ignored) < old && !ignored) fs::remove(entry.path(), ignored);
  });
  const File file(path_, O_WRONLY | O_CREAT);
  if (file.get() < 0)
    throw std::runtime_error(
        fmt::format("this node's name cannot be put beside the bell's key, {}: {}", path_, std::strerror(errno)));
}

void PublishedHost::keep_fresh() const {
  std::error_code missing;
  const auto time = fs::file_time_type::clock::now();
  if (fs::last_write_time(path_, missing) > time - fresh && !missing) return;
  const File file(path_, O_WRONLY | O_CREAT);
  fs::last_write_time(path_, time, missing);
}

PublishedHost::~PublishedHost() { unlink(path_.c_str()); }

std::vector<std::string> published_hosts(const std::string& key_file, const std::string& job) {
  std::vector<std::string> hosts;
  for_each_in(folder_of_hosts(key_file), [&](const fs::directory_entry& entry) {
    const auto name = entry.path().filename().string();
    if (name.starts_with(job + ".")) hosts.push_back(name.substr(job.size() + 1));
  });
  return hosts;
}

}  // namespace progress_engine
