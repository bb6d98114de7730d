// SPDX-License-Identifier: BSD-3-Clause
// Who asks dlsym for a function finds what is interposed (fabrics/lookups.cpp); a library made up asks.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "fabrics/watched.hpp"

extern "C" void* fake_ask(void* handle, const char* name);
extern "C" void* fake_ask_for_version(void* handle, const char* name, const char* version);
extern "C" void* fake_ask_next(const char* name);
extern "C" void* ibv_create_cq(void* context, int entries, void* cq_context, void* channel, int vector);

namespace progress_engine {
namespace {

#ifdef __x86_64__

TEST(Lookups, OfOneLibraryFindWhatIsInterposed) {
  Dl_info asker{};
  ASSERT_NE(dladdr(dlsym(RTLD_DEFAULT, "fake_ask"), &asker), 0);
  void* library = dlopen(asker.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  ASSERT_NE(library, nullptr);
  void* theirs = fake_ask(library, "fi_fabric");
  ASSERT_NE(theirs, nullptr);
  ASSERT_NE(theirs, reinterpret_cast<void*>(&fi_fabric));
  void* next = fake_ask_next("getpid");
  void* any = fake_ask(RTLD_DEFAULT, "getpid");
  void* own = fake_ask(library, "fake_ask");

  answer_lookups_of(dlsym(library, "fake_ask"));
  EXPECT_EQ(fake_ask(library, "fi_fabric"), reinterpret_cast<void*>(&fi_fabric));
  void* fabric = library;
  EXPECT_EQ(fi_fabric(nullptr, &fabric, nullptr), 1) << "the function that was asked for is behind it";
  EXPECT_EQ(fabric, nullptr);

  EXPECT_EQ(dlsym(library, "fi_fabric"), theirs) << "others' calls are as before";
  EXPECT_EQ(fake_ask(library, "fake_ask"), own);
  EXPECT_EQ(fake_ask(RTLD_DEFAULT, "getpid"), any);
  EXPECT_EQ(fake_ask_next("getpid"), next);
  EXPECT_EQ(fake_ask_next("fake_ask_next"), nullptr) << "this means what is behind the library itself";
  EXPECT_EQ(fake_ask(library, "no_such_function"), nullptr);
  dlclose(library);
}

// Intel MPI asks for a version of fi_fabric; libibverbs has versions.
TEST(Lookups, OfAVersionToo) {
  Dl_info verbs{};
  ASSERT_NE(dladdr(dlsym(RTLD_DEFAULT, "ibv_ack_cq_events"), &verbs), 0);
  void* library = dlopen(verbs.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  ASSERT_NE(dlvsym(library, "ibv_create_cq", "IBVERBS_1.1"), nullptr);
  answer_lookups_of(dlsym(RTLD_DEFAULT, "fake_ask"));
  EXPECT_EQ(fake_ask_for_version(library, "ibv_create_cq", "IBVERBS_1.1"), reinterpret_cast<void*>(&ibv_create_cq));
  EXPECT_EQ(fake_ask_for_version(library, "ibv_create_cq", "NONE_1.0"), nullptr);
  dlclose(library);
}

TEST(Lookups, OfNoLibraryAreNobodys) {
  answer_lookups_of(nullptr);
  int here = 0;
  answer_lookups_of(&here);
}

#endif

}  // namespace
}  // namespace progress_engine
