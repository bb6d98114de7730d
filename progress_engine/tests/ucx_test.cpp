// SPDX-License-Identifier: BSD-3-Clause
// What is called in place of UCX's functions (fabrics/ucx.cpp), with a libucp made up behind it.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "fabrics/fabrics.hpp"
#include "fakes/ucp.hpp"
#include "stand_ins.hpp"
#include "wait/fabrics.hpp"

namespace progress_engine {
namespace {

const auto ucp_init_version =
    called_for<std::int8_t (*)(unsigned, unsigned, const void*, const void*, void**)>(ucx_calls(), "ucp_init_version");
const auto ucp_worker_create =
    called_for<std::int8_t (*)(void*, const void*, void**)>(ucx_calls(), "ucp_worker_create");
const auto ucp_worker_progress = called_for<unsigned (*)(void*)>(ucx_calls(), "ucp_worker_progress");
const auto ucp_worker_destroy = called_for<void (*)(void*)>(ucx_calls(), "ucp_worker_destroy");

constexpr std::uint64_t tag_matching = 1;

class Ucx : public testing::Test {
 protected:
  void SetUp() override {
    fake_ucp::state() = {};
    fake_ucp::state().descriptor = 42;
    fabrics().want(Fabric::ucx, true);
    fabrics().refuse(Fabric::ucx, "");
  }
  void TearDown() override {
    ucp_worker_destroy(&fake_ucp::state().with);
    fabrics().want(Fabric::ucx, false);
  }
  static Fabrics& fabrics() { return fabrics_of_process(); }

  // A worker of a context with these parameters: the mask, and as many fields as it names.
  static void* worker(const std::vector<std::uint64_t>& parameters = {1, tag_matching}) {
    void* context = nullptr;
    void* made = nullptr;
    EXPECT_EQ(ucp_init_version(1, 13, parameters.data(), nullptr, &context), 0);
    EXPECT_EQ(ucp_worker_create(context, nullptr, &made), 0);
    return made;
  }
};

TEST_F(Ucx, GetsTheFeatureBesideWhatTheMpiAsks) {
  const std::vector<std::uint64_t> asked = {0b10000011, tag_matching, 64, 0, 0, 0, 0, 0, 7};
  const auto before = asked;
  const void* made = worker(asked);
  EXPECT_EQ(fake_ucp::state().given[0], tag_matching | fake_ucp::wakeup);
  EXPECT_EQ(fake_ucp::state().given[1], 64U);
  EXPECT_EQ(fake_ucp::state().given[7], 7U);
  EXPECT_EQ(asked, before) << "the MPI's own are not written to";
  EXPECT_EQ(fabrics().find(made).descriptor, 42);
}

TEST_F(Ucx, IsAsItWasWhereNobodyWantsIt) {
  fabrics().want(Fabric::ucx, false);
  const void* made = worker();
  EXPECT_EQ(fake_ucp::state().given[0], tag_matching);
  EXPECT_LT(fabrics().find(made).descriptor, 0);
}

TEST_F(Ucx, WithoutTheFeatureRunsWithoutItAndSaysSo) {
  fake_ucp::state().has_wakeup = false;
  const void* made = worker();
  EXPECT_EQ(fake_ucp::state().given[0], tag_matching);
  EXPECT_LT(fabrics().find(made).descriptor, 0);
  EXPECT_NE(fabrics().refusal(Fabric::ucx).find("WAKEUP"), std::string::npos);
}

TEST_F(Ucx, OfLaterVersionsParametersIsLeftAlone) {
  const void* made = worker({1U << 10 | 1U, tag_matching, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  EXPECT_EQ(fake_ucp::state().given[0], tag_matching);
  EXPECT_LT(fabrics().find(made).descriptor, 0);
  EXPECT_NE(fabrics().refusal(Fabric::ucx), "");
}

TEST_F(Ucx, IsArmedBehindAPollThatFoundNothing) {
  void* made = worker();
  ucp_worker_progress(made);
  EXPECT_EQ(fake_ucp::state().arms, 0) << "nobody is about to sleep";
  fake_ucp::state().events = 2;
  const auto steps = fabric_steps;
  ucp_worker_progress(made);
  EXPECT_EQ(fabric_steps, steps + 2);
  fake_ucp::state().events = 2;
  ArmingRound round(fabrics());
  EXPECT_EQ(ucp_worker_progress(made), 2U) << "the MPI hears what was moved";
  EXPECT_EQ(fake_ucp::state().arms, 0);
  EXPECT_TRUE(round.moved());
  EXPECT_EQ(fabric_steps, steps + 4);
  fake_ucp::state().events = 0;
  EXPECT_EQ(ucp_worker_progress(made), 0U);
  EXPECT_EQ(fake_ucp::state().arms, 1);
  ASSERT_EQ(round.armed().size(), 1U);
  EXPECT_EQ(round.armed()[0].descriptor, 42);
}

TEST_F(Ucx, SaysBusyOrFails) {
  void* made = worker();
  {
    fake_ucp::state().arm_says = -15;
    ArmingRound round(fabrics());
    ucp_worker_progress(made);
    EXPECT_TRUE(round.busy() && round.armed().empty());
  }
  fake_ucp::state().arm_says = -3;
  ArmingRound round(fabrics());
  ucp_worker_progress(made);
  EXPECT_FALSE(round.again());
  EXPECT_LT(fabrics().find(made).descriptor, 0);
  EXPECT_NE(fabrics().refusal(Fabric::ucx).find("could not be armed"), std::string::npos);
}

// Whose calls of a function go to the engine's (fabrics/replaced.cpp), with components of an MPI and another library
// made up, and two libraries that have the function.

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
