// SPDX-License-Identifier: BSD-3-Clause
#include "telemetry/report.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

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
  report.level_asked = "single";
  report.level_provided = "multiple";
  report.slice = 100000;
  report.threads = {{"events",
                     {.tid = 7,
                      .cpus_allowed = {0, 1},
                      .cpu_last = 1,
                      .cpu_seconds = 0.5,
                      .voluntary_switches = 4,
                      .involuntary_switches = 5}},
                    {"idle", {.tid = 8, .cpu_seconds = 0.25, .voluntary_switches = 1}}};
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
  report.doorbell = DoorbellReport{.neighbours = 1, .rings = 2, .bounded = 9, .wakes = 3, .answers = 4};
  report.tracked = 10;
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

TEST(Report, TellsEveryValueInJson) {
  EXPECT_EQ(to_json(report_of_two_threads()),
            R"({"version":"0.1.0","preset":"adaptive","reason":"","active":true,)"
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
            R"("doorbell":{"neighbours":1,"rings":2,"bounded":9,"wakes":3,"answers":4},)"
            R"("tracked":10,"pending":-1,"progress_users":2,)"
            R"("transport":{"component":"ob1","libraries":["libucp.so","mca_pml_ob1.so"],"devices":["/dev/knem"],)"
            R"("tcp":true,"udp":false},"advice":"measured, it helped: keep it","managed_sleeps":6,)"
            R"("world_size":4,"mpi":"MPICH Version: 5.0.2","abi":"libmpi_abi.so.1"})");
}

TEST(Report, TellsTheCommunicationThreadInJson) {
  Report report;
  report.offload = OffloadReport{.commands = 1,
                                 .passes = 2,
                                 .naps = 3,
                                 .rings = 4,
                                 .queue_full = 5,
                                 .stand_ins = 6,
                                 .turns = 7,
                                 .collectives = "blocking",
                                 .traffic = 8,
                                 .pending_while_computing_s = 0.5,
                                 .lifetime_s = 1.5,
                                 .requests_at_once = 9,
                                 .suspensions = 10};
  const auto text = to_json(report);
  EXPECT_NE(text.find(R"("offload":{"commands":1,"passes":2,"naps":3,"rings":4,"queue_full":5,"stand_ins":6,"turns":7,)"
                      R"("collectives":"blocking","traffic":8,"pending_while_computing_s":0.5,"lifetime_s":1.5,)"
                      R"("requests_at_once":9,"suspensions":10,"ult_adapter":null},"slice_ns":null,"threads":[],)"),
            std::string::npos)
      << text;
  report.offload->ult_adapter = "Argobots";
  EXPECT_NE(to_json(report).find(R"("ult_adapter":"Argobots"})"), std::string::npos);
}

TEST(Report, IsALine) {
  EXPECT_EQ(to_line(report_of_two_threads()),
            "progress engine: rank 3: adaptive: 10 operations tracked, 100 polls (40 moved something), 33 wakes, 9 "
            "parks (11 by calls, 20 by traffic, 0 by neighbours, 2 by timer), armed for 1.5 s and off for 0.25 s, 0.75 "
            "s with something pending while the program computed, 10 context switches, 0.750 s of CPU, thread level "
            "single asked and multiple had, MPICH Version: 5.0.2 by libmpi_abi.so.1, over ob1, /dev/knem, tcp, traffic "
            "announced by ucx (12 wakes), "
            "driver mpix_stream; helped: 1.2 ms an operation "
            "instead of 1.55 (in 12 phases with and 11 without); measured, it helped: keep it");
}

// Where an adapter moves the data a poll is too short to tell; a library that is armed says what it moved.
TEST(Report, DoesNotAdviseByTheClockWhereAnAdapterMovesTheData) {
  auto report = report_of_two_threads();
  report.verdict = {};
  report.productive_polls = 0;
  const auto says = [&](const char* words) { return to_line(report).find(words) != std::string::npos; };
  report.events->armed = {{"ucx", 0}};
  EXPECT_TRUE(says("not seen to move anything")) << "memory is copied by the CPU";
  report.transport.devices = {"/dev/infiniband/uverbs0"};
  EXPECT_TRUE(says("cannot be seen where an adapter moves the data"));
  report.events->armed = {{"ucx", 13}};
  EXPECT_TRUE(says("not seen to move anything"));
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

TEST(Report, ComesThroughWhereANameIsNoUtf8) {
  Report report;
  report.settings.push_back({"report_file", "text", "caf\xe9.%r"});
  EXPECT_NE(to_json(report).find("\"report_file\":\"caf\xef\xbf\xbd.%r\""), std::string::npos) << to_json(report);
}

TEST(Report, NamesItsFile) {
  EXPECT_EQ(expand_file_name("a%r-%%-%x%", 4), "a4-%-%x%");
  EXPECT_EQ(expand_file_name("%p", 0), std::to_string(getpid()));
}

}  // namespace
}  // namespace progress_engine
