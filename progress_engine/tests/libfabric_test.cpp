// SPDX-License-Identifier: BSD-3-Clause
// What is called in place of libfabric's functions (fabrics/libfabric.cpp), with a provider made up behind them.
#include <gtest/gtest.h>

#include <utility>

#include "fabrics/fabrics.hpp"
#include "stand_ins.hpp"
#include "wait/fabrics.hpp"

namespace progress_engine {
namespace {

using libfabric::CqAttributes;
using libfabric::Fid;
using libfabric::Object;
using libfabric::Table;

struct Provider {
  bool waits = true;  // it opens queues with FI_WAIT_FD
  int tried = 0;      // what fi_trywait says
  ssize_t found = libfabric::again;
  int asked_to_wait = -1;  // of the last queue
  bool in_use = false;     // it closes nothing
  bool trying = false;     // fi_trywait holds its lock
  int closed = 0;
  Object fabric{};
  Object domain{};
  Object cq{};
};
Provider provider;

template <typename... Functions>
Table table(Functions... functions) {
  return {.size = sizeof(std::size_t) + 8 * sizeof(void (*)()),
          .functions = {reinterpret_cast<void (*)()>(functions)...}};
}

int nothing() { return -38; }
int close_it(Fid*) {
  if (provider.in_use) return libfabric::in_use;
  return ++provider.closed, 0;
}
int give_descriptor(Fid*, int command, int* descriptor) {
  EXPECT_EQ(command, libfabric::get_wait);
  *descriptor = 17;
  return 0;
}
int try_wait(Object* fabric, Fid** objects, int count) {
  EXPECT_TRUE(fabric == &provider.fabric && count == 1 && *objects == &provider.cq.fid);
  EXPECT_FALSE(provider.trying) << "it would wait for itself";
  if (std::exchange(provider.trying, true)) return libfabric::again;
  // As libfabric's does (fi_poll within util_wait_fd_try): through the queue's own table.
  const auto read = reinterpret_cast<libfabric::Read>(provider.cq.functions->functions[libfabric::read]);
  EXPECT_EQ(read(&provider.cq, nullptr, 0), provider.found);
  provider.trying = false;
  return provider.tried;
}
ssize_t read_it(Object*, void*, std::size_t) { return provider.found; }
int open_cq(Object*, CqAttributes* attributes, Object** cq, void*) {
  provider.asked_to_wait = attributes->wait_object;
  if (attributes->wait_object != libfabric::wait_none && !provider.waits) return -38;
  static const Table of_fid = table(close_it, nothing, give_descriptor);
  static const Table functions = table(read_it, nothing, nothing);
  provider.cq = {.fid = {.kind = 0, .context = nullptr, .functions = &of_fid}, .functions = &functions};
  *cq = &provider.cq;
  return 0;
}
int open_domain(Object*, void*, Object** domain, void*) {
  static const Table of_fid = table(close_it, nothing, nothing);
  static const Table functions = table(nothing, open_cq);
  provider.domain = {.fid = {.kind = 0, .context = nullptr, .functions = &of_fid}, .functions = &functions};
  *domain = &provider.domain;
  return 0;
}
int open_fabric(void*, Object** fabric, void*) {
  static const Table of_fid = table(close_it, nothing, nothing);
  static const Table functions = table(open_domain, nothing, nothing, nothing, try_wait);
  provider.fabric = {.fid = {.kind = 0, .context = nullptr, .functions = &of_fid}, .functions = &functions};
  *fabric = &provider.fabric;
  return 0;
}

class Libfabric : public testing::Test {
 protected:
  void SetUp() override {
    provider = {};
    fabrics().want(Fabric::libfabric, true);
    fabrics().refuse(Fabric::libfabric, "");
  }
  void TearDown() override { fabrics().want(Fabric::libfabric, false); }
  static Fabrics& fabrics() { return fabrics_of_process(); }

  // As an MPI opens them.
  Object* queue(int wait_object = libfabric::wait_none) {
    static const auto fi_fabric =
        called_for<libfabric::OpenFabric>(libfabric_calls(), "fi_fabric", reinterpret_cast<void*>(&open_fabric));
    EXPECT_EQ(fi_fabric(nullptr, &opened_, nullptr), 0);
    Object* domain = nullptr;
    EXPECT_EQ(call<libfabric::OpenDomain>(opened_->functions, libfabric::domain)(opened_, nullptr, &domain, nullptr),
              0);
    attributes_.wait_object = wait_object;
    Object* cq = nullptr;
    EXPECT_EQ(call<libfabric::OpenCq>(domain->functions, libfabric::cq_open)(domain, &attributes_, &cq, nullptr), 0);
    EXPECT_EQ(attributes_.wait_object, wait_object) << "the MPI's own are as they were";
    return cq;
  }
  static ssize_t read(Object* cq) { return call<libfabric::Read>(cq->functions, libfabric::read)(cq, nullptr, 1); }
  static int close(Object* object) {
    return call<libfabric::Close>(object->fid.functions, libfabric::close)(&object->fid);
  }
  void close_all(Object* cq) {
    EXPECT_EQ(close(cq), 0);
    EXPECT_EQ(close(&provider.domain), 0);
    EXPECT_EQ(close(opened_), 0);
    EXPECT_EQ(provider.closed, 3);
  }

 private:
  template <typename Function>
  static Function call(const Table* functions, std::size_t index) {
    return reinterpret_cast<Function>(functions->functions[index]);
  }
  Object* opened_ = nullptr;
  CqAttributes attributes_{};
};

TEST_F(Libfabric, OpensQueuesWithADescriptor) {
  Object* cq = queue();
  EXPECT_EQ(provider.asked_to_wait, libfabric::wait_descriptor);
  EXPECT_EQ(fabrics().find(cq).descriptor, 17);
  EXPECT_EQ(fabrics().find(cq).fabric, Fabric::libfabric);
  close_all(cq);
  EXPECT_LT(fabrics().find(cq).descriptor, 0);
}

TEST_F(Libfabric, IsArmedBehindAReadThatFoundNothing) {
  Object* cq = queue();
  EXPECT_EQ(read(cq), libfabric::again);
  {
    ArmingRound round(fabrics());
    provider.found = 1;
    EXPECT_EQ(read(cq), 1);
    EXPECT_TRUE(round.moved() && round.armed().empty());
  }
  provider.found = libfabric::again;
  {
    ArmingRound round(fabrics());
    EXPECT_EQ(read(cq), libfabric::again);
    EXPECT_EQ(round.armed().size(), 1U);
  }
  provider.tried = libfabric::again;
  {
    ArmingRound round(fabrics());
    read(cq);
    EXPECT_TRUE(round.busy() && round.armed().empty());
  }
  provider.tried = -22;
  {
    ArmingRound round(fabrics());
    read(cq);
    EXPECT_FALSE(round.again());
    EXPECT_LT(fabrics().find(cq).descriptor, 0);
  }
  close_all(cq);
}

// As a fabric whose domain is open. What is in it goes on.
TEST_F(Libfabric, StaysAsItIsWhereTheProviderDoesNotCloseIt) {
  Object* cq = queue();
  provider.in_use = true;
  for (Object* object : {&provider.fabric, cq}) EXPECT_EQ(close(object), libfabric::in_use);
  provider.in_use = false;
  EXPECT_EQ(fabrics().find(cq).descriptor, 17);
  {
    ArmingRound round(fabrics());
    EXPECT_EQ(read(cq), libfabric::again);
    EXPECT_EQ(round.armed().size(), 1U);
  }
  close_all(cq);
}

// As opx does when a queue is enabled. What it has put there is its own, and stays.
TEST_F(Libfabric, MayExchangeTheTableOfWhatIsOpen) {
  static const Table others = table(read_it, nothing, nothing);
  Object* cq = queue();
  cq->functions = &others;
  provider.in_use = true;
  EXPECT_EQ(close(cq), libfabric::in_use);
  provider.in_use = false;
  EXPECT_EQ(read(cq), provider.found);
  close_all(cq);
  EXPECT_EQ(cq->functions, &others);
}

TEST_F(Libfabric, OfAProviderThatCannotWaitIsOpenedAsAsked) {
  provider.waits = false;
  Object* cq = queue();
  EXPECT_EQ(provider.asked_to_wait, libfabric::wait_none);
  EXPECT_LT(fabrics().find(cq).descriptor, 0);
  EXPECT_NE(fabrics().refusal(Fabric::libfabric).find("FI_WAIT_FD"), std::string::npos);
  close_all(cq);
}

TEST_F(Libfabric, LeavesAloneWhatTheMpiWaitsForItself) {
  Object* cq = queue(2);
  EXPECT_EQ(provider.asked_to_wait, 2);
  EXPECT_LT(fabrics().find(cq).descriptor, 0);
  close_all(cq);
}

TEST_F(Libfabric, IsAsItWasWhereNobodyWantsIt) {
  fabrics().want(Fabric::libfabric, false);
  Object* cq = queue();
  EXPECT_EQ(provider.asked_to_wait, libfabric::wait_none);
  close_all(cq);
}

}  // namespace
}  // namespace progress_engine
