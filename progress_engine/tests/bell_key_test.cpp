// SPDX-License-Identifier: BSD-3-Clause
#include "wakeup/bell_key.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <thread>

#include "wakeup/host_list.hpp"

// After so many entries a folder can be read no further, as on a network's file system; negative: it can.
static thread_local int readable_entries = -1;

// In place of the C library's, in this program.
extern "C" dirent* readdir(DIR* folder) {
  static const auto next = reinterpret_cast<dirent* (*)(DIR*)>(dlsym(RTLD_NEXT, "readdir"));
  if (readable_entries == 0) {
    errno = EIO;
    return nullptr;
  }
  readable_entries = std::max(-1, readable_entries - 1);
  return next(folder);
}

namespace progress_engine {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

class Key : public testing::Test {
 protected:
  void TearDown() override { fs::remove_all(folder_); }
  std::string complaint() const {
    try {
      read_or_make_key(path_);
    } catch (const std::exception& error) {
      return error.what();
    }
    return "";
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / ("bell-key." + std::to_string(getpid()));
  const std::string path_ = folder_ / "config" / "bell.key";
};

TEST_F(Key, IsMadeOnceForTheUserAlone) {
  const auto key = read_or_make_key(path_);
  EXPECT_NE(key, SipKey{});
  EXPECT_EQ(read_or_make_key(path_), key);
  struct stat status{};
  ASSERT_EQ(stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "config"), {}), 1) << "no draft is left";
}

TEST_F(Key, IsTheSameForAllWhoMakeItAtOnce) {
  std::array<SipKey, 2> keys{};
  pid_t child = -1;
  {
    const std::jthread one([&] { keys[0] = read_or_make_key(path_); });
    fs::create_directories(folder_ / "config");
    // Another process, whose drafts have other names.
    child = fork();
    if (child == 0) {
      try {
        read_or_make_key(path_);
      } catch (...) {
        _exit(1);
      }
      _exit(0);
    }
  }
  keys[1] = read_or_make_key(path_);
  EXPECT_EQ(keys[0], keys[1]);
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);  // its drafts would come and go while the folder is removed
  EXPECT_EQ(status, 0);
}

// As of a process of the same number that was killed, or in another container.
TEST_F(Key, IsMadeWhateverADraftIsCalledThatWasLeft) {
  fs::create_directories(folder_ / "config");
  std::array<char, 64> host{};
  gethostname(host.data(), host.size() - 1);
  std::ofstream(path_ + "." + host.data() + "." + std::to_string(getpid())) << "";
  EXPECT_EQ(complaint(), "");
}

TEST_F(Key, ThatOthersMayReadIsRefused) {
  read_or_make_key(path_);
  fs::permissions(path_, fs::perms::group_read, fs::perm_options::add);
  EXPECT_NE(complaint().find("mode 0600"), std::string::npos);
}

TEST_F(Key, ThatIsNoneIsRefused) {
  read_or_make_key(path_);
  std::ofstream(path_) << "0123456789abcdef0123456789abcdeg\n";
  EXPECT_NE(complaint().find("32 hexadecimal digits"), std::string::npos);
  std::ofstream(path_) << "0123";
  EXPECT_NE(complaint().find("32 hexadecimal digits"), std::string::npos);
  fs::remove(path_);
  fs::create_symlink("/etc/hostname", path_);
  EXPECT_NE(complaint(), "") << "a link may lead anywhere";
}

TEST_F(Key, HostsStandBesideItWhileTheyAreThere) {
  read_or_make_key(path_);
  const PublishedHost one(path_, "job1", "node1");
  {
    const PublishedHost two(path_, "job1", "node2.cluster");
    const PublishedHost other(path_, "job2", "node3");
    auto hosts = published_hosts(path_, "job1");
    std::ranges::sort(hosts);
    EXPECT_EQ(hosts, (Names{"node1", "node2.cluster"}));
  }
  EXPECT_EQ(published_hosts(path_, "job1"), Names{"node1"});
  const auto left = folder_ / "config" / "bell.hosts" / "job0.node9";
  std::ofstream(left) << "";
  fs::last_write_time(left, fs::file_time_type::clock::now() - std::chrono::hours(25));
  const PublishedHost next(path_, "job3", "node1");
  EXPECT_FALSE(fs::exists(left)) << "of a job that was killed a day ago";
}

TEST_F(Key, AHostThatCannotBeNamedIsSaid) {
  read_or_make_key(path_);
  std::ofstream(folder_ / "config" / "bell.hosts") << "no folder";
  try {
    const PublishedHost host(path_, "job1", "node1");
    FAIL();
  } catch (const std::exception& error) {
    EXPECT_EQ(std::string(error.what()).find("this node's name cannot be put beside the bell's key"), 0U)
        << error.what();
  }
}

TEST_F(Key, AFolderThatCannotBeReadToItsEndGivesWhatWasRead) {
  read_or_make_key(path_);
  const PublishedHost one(path_, "job1", "node1");
  const PublishedHost two(path_, "job1", "node2");
  const PublishedHost three(path_, "job1", "node3");
  constexpr int own_names = 2;  // "." and "..", wherever they come
  Names hosts;
  readable_entries = own_names + 1;
  EXPECT_NO_THROW(hosts = published_hosts(path_, "job1"));
  EXPECT_EQ(readable_entries, 0);
  EXPECT_TRUE(!hosts.empty() && hosts.size() < 4) << hosts.size();
  readable_entries = own_names + 1;
  EXPECT_NO_THROW(PublishedHost(path_, "job1", "node4"));
  EXPECT_EQ(readable_entries, 0);
  readable_entries = -1;
}

TEST_F(Key, WhatIsWrongWithItsPlaceIsSaidOfTheKey) {
  read_or_make_key(path_);
  try {
    read_or_make_key(path_ + std::string(300, 'x'));  // longer than a name may be
    FAIL();
  } catch (const std::exception& error) {
    EXPECT_EQ(std::string(error.what()).find("the bell's key"), 0U) << error.what();
  }
}

TEST(HostList, IsExpandedAsSlurmMeansIt) {
  EXPECT_EQ(expand_hosts("login"), Names{"login"});
  EXPECT_EQ(expand_hosts("node[01-03,7],login"), (Names{"node01", "node02", "node03", "node7", "login"}));
  EXPECT_EQ(expand_hosts("r[1-2]c[08-09]-ib"), (Names{"r1c08-ib", "r1c09-ib", "r2c08-ib", "r2c09-ib"}));
  EXPECT_EQ(expand_hosts("a[9-11]"), (Names{"a9", "a10", "a11"}));
  EXPECT_EQ(expand_hosts("a[18446744073709551614-18446744073709551615]"),
            (Names{"a18446744073709551614", "a18446744073709551615"}));
  for (const char* wrong : {"", "a[1", "a[x]", "a[1,x]", "a[3-1]", "a[1-99999999]", "a[0-9999][0-9999]"})
    EXPECT_EQ(expand_hosts(wrong), Names{}) << wrong;
}

TEST(HostList, APatternNamesTheirOtherNetwork) {
  const Names hosts{"vc1", "vc2"};
  EXPECT_EQ(apply_host_pattern("", hosts), hosts);
  EXPECT_EQ(apply_host_pattern("*-mgmt", hosts), (Names{"vc1-mgmt", "vc2-mgmt"}));
  EXPECT_EQ(apply_host_pattern("n[1-2]", hosts), (Names{"n1", "n2"}));
  EXPECT_EQ(apply_host_pattern("*-mgmt", {}), Names{}) << "the launcher names none";
}

TEST(HostList, APatternThatIsNoListIsSaid) {
  try {
    apply_host_pattern("n[1-", {"vc1"});
    FAIL();
  } catch (const std::exception& error) {
    EXPECT_STREQ(error.what(), "bell_hosts: 'n[1-' is no list as node[01-16],login");
  }
}

}  // namespace
}  // namespace progress_engine
