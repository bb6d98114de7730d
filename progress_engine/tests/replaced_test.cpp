// SPDX-License-Identifier: BSD-3-Clause
// Whose calls of a function go to the engine's (fabrics/replaced.cpp), with components of an MPI and another library
// made up, and two libraries that have the function.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <span>
#include <string>

#include "fabrics/fabrics.hpp"

namespace progress_engine {
namespace {

#if defined(__x86_64__) || defined(__aarch64__)

constinit Theirs<int (*)()> theirs;
int ours() { return 10 + theirs.get()(); }

std::span<const Replaced> calls() {
  static const std::array all = {replaced("fake_function", &ours, theirs)};
  return all;
}

// By its whole path: under AddressSanitizer it is not this program that calls dlopen, and not its RUNPATH that counts.
std::string path_of(const char* file) {
  Dl_info linked{};
  dladdr(dlsym(RTLD_DEFAULT, "ucp_worker_progress"), &linked);
  return std::filesystem::path(linked.dli_fname).replace_filename(file);
}

// As a program's plug-ins are loaded: each has its own scope.
struct Library {
  explicit Library(const char* file) : handle(dlopen(path_of(file).c_str(), RTLD_LAZY | RTLD_LOCAL)) {
    EXPECT_NE(handle, nullptr) << dlerror();
  }
  ~Library() { dlclose(handle); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  void* find(const char* name) const { return dlsym(handle, name); }
  int call() const { return reinterpret_cast<int (*)()>(find("fake_call"))(); }
  void* address() const { return reinterpret_cast<void* (*)()>(find("fake_address"))(); }
  void* ask(void* library, const char* name) const {
    return reinterpret_cast<void* (*)(void*, const char*)>(find("fake_ask"))(library, name);
  }
  void* ask(void* library, const char* name, const char* version) const {
    return reinterpret_cast<void* (*)(void*, const char*, const char*)>(find("fake_ask_for_version"))(library, name,
                                                                                                      version);
  }
  void* ask_next(const char* name) const {
    return reinterpret_cast<void* (*)(const char*)>(find("fake_ask_next"))(name);
  }

  void* handle;
};

TEST(ReplacedCalls, AreThoseOfTheMpiAlone) {
  const Library mpi("mca_fake_now.so");
  const Library program("libfake_program.so");
  void* any = mpi.ask(RTLD_DEFAULT, "getpid");
  void* next = mpi.ask_next("getpid");
  replace_calls(nullptr, calls());
  EXPECT_EQ(mpi.call(), 100);

  replace_calls(mpi.find("fake_call"), calls());
  EXPECT_EQ(mpi.call(), 1100) << "with what it called before behind it";
  EXPECT_EQ(mpi.address(), reinterpret_cast<void*>(&ours));
  EXPECT_EQ(program.call(), 200) << "it has a library of its own";

  const Library later("mca_fake.so");
  const Library with_another_library("mca_fake_other.so");
  EXPECT_EQ(mpi.ask(later.handle, "fake_call"), later.find("fake_call"));
  EXPECT_EQ(later.call(), 1100) << "its reference was not bound";
  EXPECT_EQ(with_another_library.call(), 200);

  const Library first("libfake_first.so");
  const Library second("libfake_second.so");
  EXPECT_EQ(mpi.ask(first.handle, "fake_function"), reinterpret_cast<void*>(&ours));
  EXPECT_EQ(mpi.ask(second.handle, "fake_function"), second.find("fake_function"));
  EXPECT_EQ(program.ask(first.handle, "fake_function"), first.find("fake_function"));
  EXPECT_EQ(mpi.ask(first.handle, "no_such_function"), nullptr);
  EXPECT_EQ(mpi.ask(RTLD_DEFAULT, "getpid"), any);
  EXPECT_EQ(mpi.ask_next("getpid"), next);
  EXPECT_EQ(mpi.ask_next("fake_ask_next"), nullptr) << "this means what is behind the library itself";
}

// Intel MPI asks for a version of fi_fabric; libibverbs has versions.
TEST(ReplacedCalls, HaveVersions) {
  const Library mpi("mca_fake_now.so");
  const Library verbs("libfake_ibverbs.so");
  replace_calls(mpi.find("fake_call"), verbs_calls());
  EXPECT_EQ(mpi.ask(verbs.handle, "ibv_create_cq", "IBVERBS_1.1"), verbs_calls()[0].ours);
  EXPECT_EQ(mpi.ask(verbs.handle, "ibv_create_cq", "NONE_1.0"), nullptr);
}

#endif

}  // namespace
}  // namespace progress_engine
