// SPDX-License-Identifier: BSD-3-Clause
#include "telemetry/report.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "telemetry/advice.hpp"

namespace progress_engine {
namespace {

Report report_of_two_threads() {
  Report report;
  report.rank = 3;
  report.preset = "adaptive";
  report.active = true;
  report.settings = {{"burst", "int", "3"}, {"strict", "flag", "1"}, {"cpus", "text", "0-\"3\""}};
  report.driver = "mpix_stream";
  report.driver_switches = 1;
  report.wait = "epoll";
  report.thread_level = {"single", "multiple"};
  report.slice_ns = 100000;
  report.threads = {{"events", 7, {0, 1}, 1, 0.5, 4, 5}, {"idle", 8, {}, -1, 0.25, 1, 0}};
  report.polls = 100;
  report.productive_polls = 40;
  report.wakes = 33;
  report.parks = 9;
  report.fences = 7;
  report.wake_sources = {11, 20, 0, 2};
  report.armed_s = 1.5;
  report.disarmed_s = 0.25;
  report.pending_while_computing_s = 0.75;
  report.verdict = {"helped", 12, 11, 0.0012, 0.00155};
  report.events = EventsReport{
      .sources = {"ucx"}, .wakes = {{"sockets", 0}, {"ucx", 12}}, .armed = {{"ucx", 13}}, .busy = 2, .lack = ""};
  report.doorbell = DoorbellReport{.neighbours = 1, .unreached = 5, .rings = 2, .bounded = 9, .wakes = 3, .answers = 4};
  report.tracked = 10;
  report.large = 8;
  report.pending = -1;
  report.progress_users = 2;
  report.transport = {
      .component = "ob1", .libraries = {"libucp.so", "mca_pml_ob1.so"}, .devices = {"/dev/knem"}, .tcp = true};
  report.managed_sleeps = 6;
  report.world_size = 4;
  report.mpi = "MPICH Version: 5.0.2";
  report.abi = "libmpi_abi.so.1";
  return report;
}

Report with_windows(Report report) {
  report.windows = true;
  report.window_operations = 5;
  report.window_wait_s = 0.125;
  report.window_answers = 3;
  return report;
}

TEST(Report, TellsEveryValueInJson) {
  EXPECT_EQ(to_json(with_windows(report_of_two_threads())),
            R"({"version":"0.1.0","rank":3,"world_size":4,"preset":"adaptive","active":true,"reason":"","advice":"",)"
            R"("settings":{"burst":3,"strict":true,"cpus":"0-\"3\""},"driver":"mpix_stream","driver_switches":1,)"
            R"("wait":"epoll","wait_instruction":null,"thread_level":{"asked":"single","provided":"multiple"},)"
            R"("offload":null,"slice_ns":100000,"threads":[)"
            R"({"role":"events","tid":7,"cpus_allowed":[0,1],"cpu_last":1,"cpu_s":0.5,"voluntary_switches":4,)"
            R"("involuntary_switches":5},)"
            R"({"role":"idle","tid":8,"cpus_allowed":[],"cpu_last":-1,"cpu_s":0.25,"voluntary_switches":1,)"
            R"("involuntary_switches":0}],)"
            R"("polls":100,"productive_polls":40,"wakes":33,"parks":9,"fences":7,)"
            R"("wake_sources":{"calls":11,"traffic":20,"neighbours":0,"timer":2},)"
            R"("armed_s":1.5,"disarmed_s":0.25,"pending_while_computing_s":0.75,)"
            R"("verdict":{"word":"helped","armed_phases":12,"disarmed_phases":11,"armed_s":0.0012,)"
            R"("disarmed_s":0.00155},)"
            R"("events":{"sources":["ucx"],"wakes":{"sockets":0,"ucx":12},"armed":{"ucx":13},"busy":2,"lack":""},)"
            R"("doorbell":{"neighbours":1,"unreached":5,"rings":2,"bounded":9,"wakes":3,"answers":4},)"
            R"("tracked":10,"large":8,"pending":-1,"progress_users":2,)"
            R"("transport":{"component":"ob1","libraries":["libucp.so","mca_pml_ob1.so"],"devices":["/dev/knem"],)"
            R"("tcp":true,"udp":false},"mpi":"MPICH Version: 5.0.2","abi":"libmpi_abi.so.1","managed_sleeps":6,)"
            R"("windows":true,"window_operations":5,"window_wait_s":0.125,"window_answers":3,)"
            R"("samples_rarely":false,"waits_for_announcements":false})");
}

// Of every kind of member, as of the communication thread and of what is missing.
TEST(Report, IsReadAsItWasWritten) {
  Report offload;
  offload.offload = OffloadReport{.commands = 1, .collectives = "blocking", .pending_while_computing_s = 0.5};
  offload.offload->ult_adapter = "Argobots";
  for (const Report& report : {report_of_two_threads(), offload, Report{}}) {
    const auto text = to_json(report);
    EXPECT_EQ(to_json(from_json(text)), text);
  }
  EXPECT_EQ(from_json(R"({"rank":2,"new":[1]})").rank, 2) << "another version's";
  EXPECT_EQ(from_json(R"({"rank":2})").preset, "");
  EXPECT_THROW(from_json("progress"), std::exception);
  EXPECT_THROW(from_json(R"({"rank":"two"})"), std::exception);
}

TEST(Report, IsALine) {
  EXPECT_EQ(to_line(report_of_two_threads()),
            "progress engine: rank 3: adaptive: 10 operations tracked, 100 polls (40 moved something), 33 wakes, 9 "
            "parks (11 by calls, 20 by traffic, 0 by neighbours, 2 by timer), armed for 1.5 s and off for 0.25 s, 0.75 "
            "s with something pending while the program computed, 10 context switches, 0.750 s of CPU, thread level "
            "single asked and multiple had, MPICH Version: 5.0.2 by libmpi_abi.so.1, over ob1, /dev/knem, tcp, traffic "
            "announced by ucx (12 wakes), neighbours on this node without a doorbell: 5, "
            "driver mpix_stream; helped: 1.2 ms an operation "
            "instead of 1.55 (in 12 phases with and 11 without)");
}

// Where an adapter moves the data a poll is too short to tell; a library that is armed says what it moved.
TEST(Report, DoesNotAdviseByTheClockWhereAnAdapterMovesTheData) {
  auto report = report_of_two_threads();
  report.verdict = {};
  report.productive_polls = 0;
  const auto says = [&](const char* words) { return advice_of(report).find(words) != std::string::npos; };
  report.events->armed = {{"ucx", 0}};
  EXPECT_TRUE(says("not seen to move anything")) << "memory is copied by the CPU";
  report.transport.devices = {"/dev/infiniband/uverbs0"};
  EXPECT_TRUE(says("cannot be seen where an adapter moves the data"));
  report.events->armed = {{"ucx", 13}};
  EXPECT_TRUE(says("not seen to move anything"));
}

TEST(Report, SaysWhatWentIntoWindows) {
  const auto line = to_line(with_windows(report_of_two_threads()));
  EXPECT_NE(line.find("; into others' windows 5 operations, 0.125 s in calls that wait for them; 3 polls moved "),
            std::string::npos)
      << line;
}

TEST(Report, SaysThatThreadsOfTheIdleClassSeeLess) {
  auto report = report_of_two_threads();
  report.samples_rarely = true;
  EXPECT_NE(to_line(report).find("at least 0.75 s with something pending"), std::string::npos) << to_line(report);
}

TEST(Report, SaysInALineWhyTheEngineWasNot) {
  Report report;
  report.preset = "timer";
  report.reason = "the program has no MPI: there was nothing to help";
  EXPECT_EQ(to_line(report), "progress engine: timer: inactive: the program has no MPI: there was nothing to help");
}

// ---- one sentence a job

std::vector<Report> job_of(int ranks) {
  std::vector<Report> reports;
  for (int rank = 0; rank < ranks; ++rank) {
    auto report = report_of_two_threads();
    report.rank = rank;
    report.verdict = {};
    report.doorbell->unreached = 0;
    reports.push_back(report);
  }
  return reports;
}

TEST(Sentence, IsOneForAllRanks) {
  auto job = job_of(4);
  job[1].pending_while_computing_s = 0.01;
  job[3].pending_while_computing_s = 1;
  EXPECT_EQ(
      sentences(job),
      "progress engine: adaptive on 4 ranks: 0.75 s (0.01 to 1) of 1.75 s could be won at most: so long something "
      "was pending while the program computed; what was won is not measured, polls moved data 160 times for 32 "
      "operations that need progress; it cost 0.75 s of CPU and 10 context switches a rank; it moved messages "
      "while the program computed: keep it; trial_ms=100 measures what that brings\n");
}

bool is_said(const std::vector<Report>& job, const std::string& words) {
  return sentences(job).find(words) != std::string::npos;
}

TEST(Sentence, IsByWhatTheRanksShowTogether) {
  auto job = job_of(4);
  for (int rank : {0, 1, 2}) job[rank].pending_while_computing_s = 0;
  EXPECT_TRUE(is_said(job, "keep it")) << "one rank that is late keeps all waiting";
  for (auto& one : job) one.tracked = 1'000'000;
  EXPECT_TRUE(is_said(job, "keep it")) << "small messages are not what it is there for";
  for (auto& one : job) one.large = 1'000'000;
  EXPECT_TRUE(is_said(job, "not seen to move anything"));
  for (auto& one : job) one.polls = 1'000'000'000, one.productive_polls = 593, one.large = 10;
  EXPECT_TRUE(is_said(job, "keep it")) << "how many polls there were is the preset's choice";
  job[3].pending_while_computing_s = 0;
  EXPECT_TRUE(is_said(job, "leave it off"));
}

TEST(Sentence, TellsWhatWasMeasured) {
  auto job = job_of(3);
  for (int rank : {0, 1}) job[rank].verdict = {"helped", 12, 11, 0.0012, 0.00155};
  job[2].verdict = {"unclear", 12, 11, 0.0014, 0.0015};
  EXPECT_TRUE(is_said(job, "an operation took 1.2 ms (1.2 to 1.4) with it on, 1.55 ms (1.5 to 1.55) with it off"));
  EXPECT_TRUE(is_said(job, "measured, it helped"));
  job[1].verdict.word = "hurt";
  EXPECT_TRUE(is_said(job, "too uneven, to tell"));
}

TEST(Sentence, SaysOfWhomItIs) {
  auto job = job_of(2);
  EXPECT_TRUE(is_said(job, "adaptive on 2 of 4 ranks: "));
  EXPECT_TRUE(is_said({job[1]}, "adaptive on rank 1 of 4: "));
  job[1].active = false;
  job[1].reason = "no descriptor is left";
  EXPECT_TRUE(is_said(job, "; inactive on 1: no descriptor is left"));
  EXPECT_NE(sentences(job, 3).find("; 3 more ended without a report\n"), std::string::npos);
  job[0].active = false;
  job[0].reason = "it is off";
  EXPECT_EQ(sentences(job), "progress engine: adaptive on 2 of 4 ranks: inactive: it is off\n");
}

TEST(Sentence, CountsNeighboursWithoutADoorbellWhereOneCouldBeWoken) {
  auto job = job_of(2);
  job[0].doorbell.reset();
  EXPECT_FALSE(is_said(job, "doorbell"));
  job[1].doorbell->unreached = 3;
  EXPECT_TRUE(is_said(job, "; neighbours on one node without a doorbell: 3\n"));
  for (auto& one : job) one.pending_while_computing_s = 0;
  EXPECT_FALSE(is_said(job, "doorbell"));
}

TEST(Sentence, IsOneOfEachJob) {
  auto both = job_of(2);
  for (auto report : job_of(2)) report.preset = "timer", both.push_back(report);
  const auto text = sentences(both);
  EXPECT_EQ(std::ranges::count(text, '\n'), 2);
  EXPECT_LT(text.find("adaptive on 2"), text.find("timer on 2"));
}

TEST(Report, ComesThroughWhereANameIsNoUtf8) {
  Report report;
  report.settings.push_back({"report_file", "text", "caf\xe9.%r"});
  EXPECT_NE(to_json(report).find("\"report_file\":\"caf\xef\xbf\xbd.%r\""), std::string::npos) << to_json(report);
}

TEST(Report, NamesItsFile) {
  EXPECT_EQ(expand_file_name("a%r-%%-%x%", 4), "a4-%-%x%");
  EXPECT_EQ(expand_file_name("%p", 0), std::to_string(getpid()));
}

// A run in which the engine did what it is for.
Facts good_run() {
  return {.active = true,
          .lifetime_s = 10,
          .pending_while_computing_s = 5,
          .tracked = 100,
          .large = 100,
          .productive_polls = 400,
          .wakes = 300,
          .announced = 200,
          .verdict = "not measured"};
}

using Change = void (*)(Facts&);

struct Case {
  Change change;
  const char* says;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {[](Facts&) {}, "keep it"},
      // ---- what can be won
      {[](Facts& f) { f.pending_while_computing_s = 0.05; },
       "nothing that needs progress was pending while the program computed: leave it off"},
      {[](Facts& f) { f.polls_in_calls_alone = true; }, "only a program that calls MPI while it computes"},
      // ---- what it does not see
      {[](Facts& f) { f.tracked = 0; }, "saw no nonblocking operation"},
      {[](Facts& f) { f.tracked = 0, f.pending_while_computing_s = 0, f.windows = true; }, "its windows"},
      {[](Facts& f) { f.offload = true, f.pending_while_computing_s = 0, f.windows = true; }, "its windows"},
      {[](Facts& f) { f.tracked = 0, f.pending_while_computing_s = 0, f.window_answers = 1; }, "what they asked for"},
      {[](Facts& f) { f.pending_while_computing_s = 0, f.samples_rarely = true; }, "compare with the variant adaptive"},
      {[](Facts& f) { f.productive_polls = 0, f.moves_unseen = true; }, "an adapter moves the data: trial_ms=100"},
      {[](Facts& f) { f.moves_unseen = true; }, "keep it"},
      // ---- moves are held against operations
      {[](Facts& f) { f.productive_polls = 0; }, "not seen to move anything"},
      {[](Facts& f) { f.productive_polls = 1; }, "not seen to move anything"},
      {[](Facts& f) { f.productive_polls = 1, f.large = 10; }, "keep it"},
      // ---- a setting may help
      {[](Facts& f) { f.announced = 0; }, "keep it"},  // a timer waits for nothing else
      {[](Facts& f) { f.announced = 0, f.waits_for_announcements = true; }, "timer_us=500"},
      {[](Facts& f) { f.disarmed_s = 6; }, "rest_us=0"},
      {[](Facts& f) { f.offload = true; }, "compare with the variant adaptive"},
      {[](Facts& f) { f.offload = true, f.pending_while_computing_s = 0; }, "only if threads communicate at once"},
      // ---- a measurement is believed more
      {[](Facts& f) { f.verdict = "hurt"; }, "slowed this program down: leave it off"},
      {[](Facts& f) { f.verdict = "neutral"; }, "made no difference here: leave it off"},
      {[](Facts& f) { f.verdict = "unclear"; }, "compare with the variant off"},
      {[](Facts& f) { f.verdict = "helped", f.pending_while_computing_s = 0; }, "measured, it helped: keep it"},
  };
  return all;
}

TEST(Advice, IsByWhatTheRunShowed) {
  for (const auto& [change, says] : cases()) {
    auto facts = good_run();
    change(facts);
    EXPECT_NE(advice(facts).find(says), std::string::npos) << advice(facts) << ", not " << says;
    facts.active = false;
    EXPECT_EQ(advice(facts), "");
  }
}

// Whatever else holds: without a measurement that takes operations that were seen, none of which was pending while the
// program computed, by threads that looked.
TEST(Advice, LeavesItOffOnlyOnEvidence) {
  constexpr std::array<bool Facts::*, 6> flags = {
      &Facts::offload,        &Facts::polls_in_calls_alone,    &Facts::windows,
      &Facts::samples_rarely, &Facts::waits_for_announcements, &Facts::moves_unseen};
  for (unsigned set = 0; set < 1U << flags.size(); ++set)
    for (const double pending : {0.0, 5.0})
      for (const std::uint64_t tracked : {0U, 100U})
        for (const std::uint64_t productive : {0U, 593U})
          for (const std::uint64_t announced : {0U, 200U}) {
            auto facts = good_run();
            for (std::size_t i = 0; i < flags.size(); ++i) facts.*flags[i] = ((set >> i) & 1U) != 0;
            facts.pending_while_computing_s = pending;
            facts.tracked = tracked;
            facts.productive_polls = productive;
            facts.announced = announced;
            const bool evidence = pending == 0 && tracked > 0 && !facts.windows && !facts.samples_rarely &&
                                  !facts.offload && !facts.polls_in_calls_alone;
            EXPECT_EQ(advice(facts).find("leave it off") != std::string::npos, evidence) << advice(facts);
          }
}

}  // namespace
}  // namespace progress_engine
