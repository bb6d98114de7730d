// SPDX-License-Identifier: BSD-3-Clause
// The collectives' schedules: they end, whatever the number of ranks, move as much as their algorithm says, and are for
// few ranks what MPICH and Open MPI do.
#include <gtest/gtest.h>

#include "line.h"

namespace simulated::testing {
namespace {

constexpr Bytes block = 100'000;

/// All ranks run it at once; the bytes that were carried, or nothing if somebody waits for ever.
std::optional<Bytes> run(const std::string& whose, const std::string& name, int ranks, Bytes bytes) {
  Job job(free_model(), "bare", ranks);
  const bool ended = job.run([&](Rank& rank) -> Task {
    const Collective collective{.name = name, .rank = rank.number(), .ranks = ranks, .bytes = bytes};
    const auto request = rank.start(schedule_of(whose, collective));
    co_await rank.wait(request);
  });
  return ended ? std::optional(job.line.carried()) : std::nullopt;
}

std::vector<Round> rounds_of(const std::string& whose, const Collective& collective) {
  const Rounds rounds = schedule_of(whose, collective);
  std::vector<Round> all;
  Round round;
  while (rounds(all.size(), round)) {
    all.push_back(std::exchange(round, {}));
  }
  return all;
}

TEST(Schedules, EndWhateverTheNumberOfRanks) {
  for (const char* whose : {"mpich", "openmpi"}) {
    for (const char* name : {"ireduce", "igather", "ibcast", "iscatter", "iallreduce", "ialltoall", "iallgather"}) {
      for (const int ranks : {2, 3, 4, 5, 7, 8, 12, 16, 33}) {
        for (const Bytes bytes : {Bytes{8}, Bytes{4096}, block, Bytes{1} << 20U}) {
          EXPECT_TRUE(run(whose, name, ranks, bytes)) << whose << ' ' << name << ' ' << ranks << ' ' << bytes;
        }
      }
    }
  }
}

TEST(Schedules, MoveWhatTheirAlgorithmSays) {
  constexpr Bytes n = 16;
  const Bytes each = (n - 1) * block;
  EXPECT_EQ(run("mpich", "iallgather", n, block), n * each);
  EXPECT_EQ(run("mpich", "ialltoall", n, block), n * each);
  EXPECT_EQ(run("openmpi", "ialltoall", n, block), n * each);
  EXPECT_EQ(run("openmpi", "iscatter", n, block), each);
  EXPECT_EQ(run("mpich", "iscatter", n, block), block * n / 2 * 4);  // each level of the tree carries half of them
  EXPECT_EQ(run("mpich", "igather", n, block), block * n / 2 * 4);
  constexpr Bytes vector = 16 * block;
  EXPECT_EQ(run("mpich", "iallreduce", n, vector), 2 * (n - 1) * vector);
  EXPECT_EQ(run("mpich", "ireduce", n, vector), ((n - 1) * vector) + (vector / n * (n / 2 * 4)));
}

TEST(Schedules, MpichBroadcastsShortMessagesByATree) {
  const Collective root{.name = "ibcast", .rank = 0, .ranks = 4, .bytes = block};
  EXPECT_EQ(rounds_of("mpich", root), (std::vector<Round>{{.steps = {{true, 2, block}, {true, 1, block}}}}));
  const Collective two{.name = "ibcast", .rank = 2, .ranks = 4, .bytes = block};
  EXPECT_EQ(rounds_of("mpich", two),
            (std::vector<Round>{{.steps = {{false, 0, block}}}, {.steps = {{true, 3, block}}}}));
}

TEST(Schedules, MpichSumsByHalvesAndDoublesThem) {
  const Collective zero{.name = "iallreduce", .rank = 0, .ranks = 4, .bytes = 4000};
  EXPECT_EQ(rounds_of("mpich", zero), (std::vector<Round>{
                                          {.steps = {{false, 1, 2000}, {true, 1, 2000}}, .reduced = 2000},
                                          {.steps = {{false, 2, 1000}, {true, 2, 1000}}, .reduced = 1000},
                                          {.steps = {{false, 2, 1000}, {true, 2, 1000}}},
                                          {.steps = {{false, 1, 2000}, {true, 1, 2000}}},
                                      }));
}

TEST(Schedules, MpichExchangesPairByPair) {
  const Collective one{.name = "ialltoall", .rank = 1, .ranks = 4, .bytes = block};
  EXPECT_EQ(rounds_of("mpich", one), (std::vector<Round>{
                                         {.steps = {{false, 0, block}, {true, 0, block}}},
                                         {.steps = {{false, 3, block}, {true, 3, block}}},
                                         {.steps = {{false, 2, block}, {true, 2, block}}},
                                     }));
}

TEST(Schedules, OpenMpiBroadcastsAlongAChain) {
  constexpr Bytes pieces = 3;
  constexpr Bytes piece = 32768;
  constexpr Bytes whole = 32 * piece;
  const Collective middle{.name = "ibcast", .rank = 3, .ranks = 8, .bytes = whole};
  const auto rounds = rounds_of("openmpi", middle);
  ASSERT_EQ(rounds.size(), 33U);
  EXPECT_EQ(rounds[0], (Round{.steps = {{false, 2, piece}}}));
  EXPECT_EQ(rounds[pieces], (Round{.steps = {{false, 2, piece}, {true, 4, piece}}}));
  EXPECT_EQ(rounds[32], (Round{.steps = {{true, 4, piece}}}));
}

}  // namespace
}  // namespace simulated::testing
