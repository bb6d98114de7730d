// SPDX-License-Identifier: BSD-3-Clause
// The model against times worked out by hand: 1 MB/s, 1 ms latency, one wire a message.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "common/errors.h"
#include "line.h"
#include "model.h"

namespace simulated::testing {

namespace {

constexpr Bytes large = 100'000;  // 0.1 s on the wire
constexpr Seconds tolerance = 1e-9;

/// Rank 0 sends `bytes` to rank 1; each computes `work` meanwhile.
struct Exchange {
  Bytes bytes = large;
  Seconds sender_work = 0;
  Seconds receiver_work = 0;
  bool asleep = false;
  Seconds sender_end = 0;
  Seconds receiver_end = 0;

  Task operator()(Rank& rank) {
    const bool sender = rank.number() == 0;
    auto request = sender ? rank.send(1, 0, bytes) : rank.receive(0, 0, bytes);
    co_await rank.compute(sender ? sender_work : receiver_work, asleep);
    co_await rank.wait(request);
    (sender ? sender_end : receiver_end) = rank.now();
  }
};

TEST(Message, AnEagerOneTravelsWithItsEnvelope) {
  Job job(free_model(), "bare", 2);
  Exchange exchange{.bytes = 500};
  ASSERT_TRUE(job.run(std::ref(exchange)));
  EXPECT_NEAR(exchange.sender_end, 0, tolerance);  // it is buffered
  EXPECT_NEAR(exchange.receiver_end, 0.0005 + wire_latency, tolerance);
}

TEST(Message, EachShortOneTakesItsTimeOnTheWire) {
  for (const Seconds pause : {0.0, 0.001, 1.0}) {
    Job job(free_model(), "bare", 2);
    std::vector<Seconds> took;
    ASSERT_TRUE(job.run([&](Rank& rank) -> Task {
      for (int message = 0; message < 3; ++message) {
        co_await rank.compute(pause);
        co_await job.fence.arrive();
        const Seconds begin = rank.now();
        if (rank.number() == 0) {
          co_await rank.wait(rank.send(1, 0, 1000));
        } else {
          co_await rank.wait(rank.receive(0, 0, 1000));
          took.push_back(rank.now() - begin);
        }
        co_await job.fence.arrive();
      }
    }));
    EXPECT_THAT(took, ::testing::Each(::testing::DoubleNear(0.001 + wire_latency, tolerance))) << pause;
  }
}

TEST(Message, ALargeOneAsksFirst) {
  Job job(free_model(), "bare", 2);
  Exchange exchange;
  ASSERT_TRUE(job.run(std::ref(exchange)));
  EXPECT_NEAR(exchange.receiver_end, (3 * wire_latency) + 0.1, tolerance);
  EXPECT_NEAR(exchange.sender_end, (2 * wire_latency) + 0.1, tolerance);
}

TEST(Message, NobodyAnswersWhileTheReceiverComputes) {
  Job job(free_model(), "bare", 2);
  Exchange exchange{.receiver_work = 0.5};
  ASSERT_TRUE(job.run(std::ref(exchange)));
  EXPECT_NEAR(exchange.receiver_end, 0.5 + (2 * wire_latency) + 0.1, tolerance);
}

TEST(Message, TheAnswerIsNotSeenWhileTheSenderComputes) {
  Job job(free_model(), "bare", 2);
  Exchange exchange{.sender_work = 0.5};
  ASSERT_TRUE(job.run(std::ref(exchange)));
  EXPECT_NEAR(exchange.sender_end, 0.5 + 0.1, tolerance);
}

TEST(Message, WithoutAHandshakeTheCardMovesIt) {
  Model model = free_model();
  model.protocol.handshake = false;
  Job job(model, "bare", 2);
  Exchange exchange{.sender_work = 0.5, .receiver_work = 0.5};
  ASSERT_TRUE(job.run(std::ref(exchange)));
  EXPECT_NEAR(exchange.receiver_end, 0.5, tolerance);
}

Model with_buffers(Bytes each) {
  Model model = free_model();
  model.protocol = {.eager_bytes = 0,
                    .handshake = false,
                    .zero_copy = false,
                    .send_buffer_bytes = each,
                    .receive_buffer_bytes = each};
  return model;
}

TEST(Buffers, WhatTheyHoldTravelsBesideTheComputation) {
  Job job(with_buffers(large), "bare", 2);
  Exchange exchange{.sender_work = 0.5, .receiver_work = 0.5};
  ASSERT_TRUE(job.run(std::ref(exchange)));
  EXPECT_NEAR(exchange.receiver_end, 0.5, tolerance);
}

TEST(Buffers, TheRestTravelsAfterwards) {
  Job job(with_buffers(large), "bare", 2);
  Exchange exchange{.bytes = 3 * large, .sender_work = 0.5, .receiver_work = 0.5};
  ASSERT_TRUE(job.run(std::ref(exchange)));
  // One buffer's worth is there when the computation ends; of the two that are not, the first waits for room.
  EXPECT_NEAR(exchange.receiver_end, 0.5 + 0.2 + (2 * wire_latency), 2 * wire_latency);
}

TEST(Buffers, CopyingTakesTheReceiversCore) {
  Model model = with_buffers(large);
  model.costs.copy_per_byte = 1e-6;  // as long as the wire takes
  Job job(model, "bare", 2);
  Exchange exchange{.sender_work = 0.5, .receiver_work = 0.5};
  ASSERT_TRUE(job.run(std::ref(exchange)));
  EXPECT_NEAR(exchange.receiver_end, 0.5 + 0.1, tolerance);
  EXPECT_NEAR(exchange.sender_end, 0.1 + 0.5, tolerance);  // it copies before it computes
}

TEST(Timer, WakesAtItsPeriodAndTakesTheCore) {
  Model model = free_model();
  model.costs.wake = 0.001;
  Job job(model, "timer", 1, {{"timer_us", "99000"}});
  Seconds end = 0;
  ASSERT_TRUE(job.run([&](Rank& rank) -> Task {
    co_await rank.compute(0.5);
    end = rank.now();
  }));
  // at 0, 0.1, ..., 0.5: the fifth comes before 0.505 and takes its millisecond, too
  EXPECT_EQ(job.ranks[0]->polls().wakes, 6);
  EXPECT_NEAR(end, 0.5 + (6 * 0.001), tolerance);
}

TEST(Timer, WhoSleepsGivesTheCoreAway) {
  for (const bool asleep : {false, true}) {
    Model model = free_model();
    model.costs.wake = 0.01;
    Job job(model, "timer", 2, {{"timer_us", "100000"}});
    Exchange exchange{.bytes = 500, .receiver_work = 0.5, .asleep = asleep};
    ASSERT_TRUE(job.run(std::ref(exchange)));
    EXPECT_GT(job.ranks[1]->polls().cpu, 0);
    EXPECT_NEAR(exchange.receiver_end, asleep ? 0.5 : 0.5 + job.ranks[1]->polls().cpu, tolerance);
  }
}

TEST(Timer, AWakeMovesTheHandshake) {
  Job job(free_model(), "timer", 2, {{"timer_us", "20000"}});
  Exchange exchange{.sender_work = 0.5, .receiver_work = 0.5};
  ASSERT_TRUE(job.run(std::ref(exchange)));
  EXPECT_NEAR(exchange.receiver_end, 0.5, tolerance);
  EXPECT_NEAR(exchange.sender_end, 0.5, tolerance);
}

TEST(Adaptive, TheArrivalWakesIt) {
  Job job(free_model(), "adaptive", 2);
  Exchange exchange{.receiver_work = 0.5};
  ASSERT_TRUE(job.run(std::ref(exchange)));
  // The envelope is there after 1 ms, later than the 0.5 ms that the engine waits after a start: answered at once.
  EXPECT_NEAR(exchange.sender_end, (2 * wire_latency) + 0.1, tolerance);
  EXPECT_EQ(job.ranks[1]->polls().productive, 2);  // envelope, data
}

TEST(Adaptive, ParksWhereNothingIsPending) {
  Job job(free_model(), "adaptive", 1);
  ASSERT_TRUE(job.run([&](Rank& rank) -> Task { co_await rank.compute(0.5); }));
  EXPECT_EQ(job.ranks[0]->polls().wakes, 0);
}

/// Polls in 100 ms of a collective whose rounds take 60 us, each of which begins with the poll that ends the one
/// before.
int polls_of_rounds(int steps_each) {
  constexpr Seconds took = 25e-6;
  constexpr Seconds round = 60e-6;
  const auto wakes = make_wakes(variant_of("adaptive", {}), free_model(), 0, 1);
  wakes->pending(0, true);
  int polls = 0;
  for (Seconds over = round; over < 0.1; ++polls) {
    const Seconds at = wakes->next(over, true).value_or(1);
    wakes->polled({.at = at, .took = took, .moved = true, .steps = steps_each});
    over = at + took + round;
  }
  return polls;
}

TEST(Adaptive, FollowsRoundsWhoseDataTheCardMoves) {
  EXPECT_GT(polls_of_rounds(2), 900);
  EXPECT_LT(polls_of_rounds(0), 200);  // where the program's core moves it, the interval is PollingInterval's
}

TEST(Adaptive, ItsTimerWakesItWhereNothingArrives) {
  Job job(free_model(), "adaptive", 2);
  ASSERT_TRUE(job.run([&](Rank& rank) -> Task {
    if (rank.number() == 1) {
      auto request = rank.receive(0, 0, large);
      co_await rank.compute(0.0035);
      co_await rank.wait(request);
    } else {
      co_await rank.compute(0.1);
      co_await rank.wait(rank.send(1, 0, large));
    }
  }));
  EXPECT_EQ(job.ranks[1]->polls().wakes, 1);  // after 2 ms, then after 4 more
}

TEST(Idle, AProgramThatWaitsIsWokenLater) {
  Model model = free_model();
  model.costs.managed = 0.002;
  for (const auto& [variant, hops] : {std::pair{"bare", 0}, std::pair{"timer", 0}, std::pair{"idle", 1}}) {
    Job job(model, variant, 2);
    Exchange exchange{.bytes = 500};
    ASSERT_TRUE(job.run(std::ref(exchange)));
    EXPECT_NEAR(exchange.receiver_end, 0.0005 + wire_latency + (hops * 0.002), tolerance) << variant;
  }
}

TEST(Idle, ItsThreadAnswersWhileTheProgramSleepsInsteadOfComputing) {
  Model model = free_model();
  model.costs.managed = 0.002;
  Job job(model, "idle", 2, {{"timer_us", "1000000"}});
  Exchange exchange{.receiver_work = 0.5, .asleep = true};
  ASSERT_TRUE(job.run(std::ref(exchange)));
  EXPECT_NEAR(exchange.receiver_end, 0.5, tolerance);  // the envelope was answered beside the sleep
  EXPECT_NEAR(exchange.sender_end, (2 * wire_latency) + 0.1 + (3 * 0.002), 0.002 + tolerance);
}

constexpr Seconds slice = 0.004;

Model with_own_thread() {
  Model model = free_model();
  model.async = {.exists = true, .slice = slice};
  return model;
}

TEST(OwnThread, AProgramThatWaitsLooksWhenItsTurnBegins) {
  for (const char* variant : {"mpi-async", "thread"}) {
    Job job(with_own_thread(), variant, 2);
    Exchange exchange{.bytes = 500};  // there after 1.5 ms
    ASSERT_TRUE(job.run(std::ref(exchange)));
    EXPECT_NEAR(exchange.sender_end, 0, tolerance) << variant;  // nothing to wait for
    EXPECT_NEAR(exchange.receiver_end, slice, tolerance) << variant;
  }
}

TEST(OwnThread, TheProgramHasTheFirstTurn) {
  Job job(with_own_thread(), "mpi-async", 1);
  Seconds end = 0;
  ASSERT_TRUE(job.run([&](Rank& rank) -> Task {
    co_await rank.compute(slice / 2);
    end = rank.now();
  }));
  EXPECT_NEAR(end, slice / 2, tolerance);
}

TEST(OwnThread, WhereItTakesEveryCallAnothersCoreIsShared) {
  Model model = with_own_thread();
  model.async.hands_over = true;
  model.async.beside = {0, 2};  // both threads on the second rank's core
  Job job(model, "mpi-async", 2);
  std::array<Seconds, 2> ends{};
  ASSERT_TRUE(job.run([&](Rank& rank) -> Task {
    co_await rank.compute(9.5 * slice);
    ends.at(static_cast<std::size_t>(rank.number())) = rank.now();
  }));
  EXPECT_NEAR(ends[0], 9.5 * slice, tolerance);
  EXPECT_NEAR(ends[1], 27.5 * slice, tolerance);  // nine rounds of three, and half of its own tenth

  Job transfer(model, "mpi-async", 2);
  Exchange exchange{.bytes = 500};
  ASSERT_TRUE(transfer.run(std::ref(exchange)));
  // The threads' turns begin after one slice and after two, the program's after three.
  EXPECT_NEAR(exchange.sender_end, slice, tolerance);
  EXPECT_NEAR(exchange.receiver_end, 3 * slice, tolerance);
}

TEST(OwnThread, SharesTheCore) {
  Model model = with_own_thread();
  Job job(model, "mpi-async", 1);
  Seconds end = 0;
  ASSERT_TRUE(job.run([&](Rank& rank) -> Task {
    co_await rank.compute(0.4);
    end = rank.now();
  }));
  EXPECT_NEAR(end, 0.8, 0.008);
}

TEST(Variants, WhatHasNoModelIsSaid) {
  EXPECT_NE(why_not(variant_of("offload", {}), free_model()), "");
  EXPECT_NE(why_not(variant_of("adaptive", {{"burst", "5"}}), free_model()), "");
  EXPECT_NE(why_not(variant_of("mpi-async", {}), free_model()), "");
  EXPECT_NE(why_not(variant_of("thread", {}), free_model()), "");  // no slice is known
  EXPECT_EQ(why_not(variant_of("thread", {}), with_own_thread()), "");
  EXPECT_EQ(why_not(variant_of("adaptive", {{"max_distance_us", "500"}}), free_model()), "");
  EXPECT_THROW(variant_of("timer", {{"timer_us", "often"}}), workloads::UsageError);
}

constexpr const char* file = R"({
  "schema": 1, "mpi": "mpich", "schedules": "mpich",
  "protocol": {"eager_bytes": 65536, "handshake": true, "zero_copy": false,
               "send_buffer_bytes": 1000000, "receive_buffer_bytes": {"value": 2e6, "low": 1e6, "high": 3e6}},
  "costs": {"call_s": 1e-7, "wake_s": 1e-5, "managed_s": 2e-5, "copy_s_per_byte": 1e-10, "reduce_s_per_byte": 1e-10},
  "async": {"exists": true, "slice_s": 0.004, "hands_over": false, "beside": [0, {"value": 2, "low": 2, "high": 2}]},
  "computation": {"unit_s": 1e-6}})";

TEST(ModelFile, ADrawStaysWithinTheIntervals) {
  EXPECT_EQ(model_from_json(file, "here", 0).protocol.receive_buffer_bytes, 2'000'000);
  const auto drawn = model_from_json(file, "here", 3).protocol.receive_buffer_bytes;
  EXPECT_NE(drawn, 2'000'000);
  EXPECT_GE(drawn, 1'000'000);
  EXPECT_LE(drawn, 3'000'000);
  EXPECT_EQ(drawn, model_from_json(file, "here", 3).protocol.receive_buffer_bytes);
}

TEST(ModelFile, SaysWhereTheBusyThreadsAre) {
  const Model model = model_from_json(file, "here", 3);
  EXPECT_EQ(model.async.beside, (std::vector{0, 2}));
  EXPECT_EQ(threads_beside(model.async, 1, 2), 2);
  EXPECT_EQ(threads_beside(model.async, 1, 8), 1);  // of another number of ranks nothing is known
}

std::string refusal(const std::string& text) {
  try {
    model_from_json(text, "here", 0);
  } catch (const workloads::UsageError& error) {
    return error.what();
  }
  return "none";
}

TEST(ModelFile, WhatIsMissingIsNamed) {
  std::string text = file;
  text.replace(text.find("wake_s"), 6, "wakes_");
  EXPECT_EQ(refusal(text), "here: costs.wake_s is missing");
}

TEST(ModelFile, ALineWithATokenBucketIsRefused) {
  std::string text = file;
  text.insert(1, R"("shaper": {"burst_bytes": 131000, "bytes_per_s": 125e6},)");
  EXPECT_EQ(refusal(text),
            "here: shaper: no line here has a token bucket. Fit the model again (./bench "
            "calibrate-model); where its burst_bytes is 0, take the group out");
  EXPECT_EQ(refusal(file), "none");
}

}  // namespace

}  // namespace simulated::testing

namespace simulated {

// The standard's examples: a record's digest is what sha256sum prints.

namespace {

TEST(Sha256, ItsStandardsExamples) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace

}  // namespace simulated
