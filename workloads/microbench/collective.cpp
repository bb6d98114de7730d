// SPDX-License-Identifier: BSD-3-Clause
#include "microbench/collective.h"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>

namespace workloads {

/// Who holds how many blocks, and the call.
struct CollectiveKind {
  enum class Blocks : std::uint8_t { none, one, one_each };
  struct Buffers {
    void* sent;
    void* received;
    int bytes;
  };
  using Start = int (*)(const Buffers& buffers, MPI_Request* request);

  const char* name;
  Blocks sent_by_root;
  Blocks sent_by_others;
  Blocks received_by_root;
  Blocks received_by_others;
  bool adds;       ///< what is received is the sum of the ranks' vectors
  bool from_root;  ///< every block comes from rank 0
  bool personal;   ///< another block for each receiver
  Start start;
};

namespace {

using Kind = CollectiveKind;
constexpr auto none = Kind::Blocks::none;
constexpr auto one = Kind::Blocks::one;
constexpr auto one_each = Kind::Blocks::one_each;
constexpr int root = 0;
constexpr auto word_bytes = static_cast<int>(sizeof(std::uint64_t));

int start_ireduce(const Kind::Buffers& b, MPI_Request* request) {
  return MPI_Ireduce(b.sent, b.received, b.bytes / word_bytes, MPI_UINT64_T, MPI_SUM, root, MPI_COMM_WORLD, request);
}

int start_igather(const Kind::Buffers& b, MPI_Request* request) {
  return MPI_Igather(b.sent, b.bytes, MPI_BYTE, b.received, b.bytes, MPI_BYTE, root, MPI_COMM_WORLD, request);
}

int start_ibcast(const Kind::Buffers& b, MPI_Request* request) {
  return MPI_Ibcast(b.received, b.bytes, MPI_BYTE, root, MPI_COMM_WORLD, request);
}

int start_iscatter(const Kind::Buffers& b, MPI_Request* request) {
  return MPI_Iscatter(b.sent, b.bytes, MPI_BYTE, b.received, b.bytes, MPI_BYTE, root, MPI_COMM_WORLD, request);
}

int start_iallreduce(const Kind::Buffers& b, MPI_Request* request) {
  return MPI_Iallreduce(b.sent, b.received, b.bytes / word_bytes, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD, request);
}

int start_ialltoall(const Kind::Buffers& b, MPI_Request* request) {
  return MPI_Ialltoall(b.sent, b.bytes, MPI_BYTE, b.received, b.bytes, MPI_BYTE, MPI_COMM_WORLD, request);
}

int start_iallgather(const Kind::Buffers& b, MPI_Request* request) {
  return MPI_Iallgather(b.sent, b.bytes, MPI_BYTE, b.received, b.bytes, MPI_BYTE, MPI_COMM_WORLD, request);
}

constexpr std::array kinds{
    Kind{"ireduce", one, one, one, none, true, false, false, start_ireduce},
    Kind{"igather", one, one, one_each, none, false, false, false, start_igather},
    Kind{"ibcast", none, none, one, one, false, true, false, start_ibcast},
    Kind{"iscatter", one_each, none, one, one, false, true, true, start_iscatter},
    Kind{"iallreduce", one, one, one, one, true, false, false, start_iallreduce},
    Kind{"ialltoall", one_each, one_each, one_each, one_each, false, false, true, start_ialltoall},
    Kind{"iallgather", one, one, one_each, one_each, false, false, false, start_iallgather},
};

const Kind& kind_of(std::string_view name) {
  return *std::ranges::find_if(kinds, [&](const Kind& kind) { return name == kind.name; });
}

std::size_t count(Kind::Blocks blocks, int ranks) {
  if (blocks == one_each) {
    return static_cast<std::size_t>(ranks);
  }
  return blocks == one ? 1 : 0;
}

std::size_t sent_blocks(const Kind& kind, int rank, int ranks) {
  return count(rank == root ? kind.sent_by_root : kind.sent_by_others, ranks);
}

std::size_t received_blocks(const Kind& kind, int rank, int ranks) {
  return count(rank == root ? kind.received_by_root : kind.received_by_others, ranks);
}

/// Every pair of ranks has a pattern of its own in every repetition.
std::uint64_t block_seed(std::uint64_t seed, std::size_t sender, std::size_t receiver) {
  constexpr std::uint64_t most_ranks = 1U << 20U;
  return (((seed * most_ranks) + sender) * most_ranks) + receiver;
}

std::string check_sum(std::span<const std::byte> bytes, std::uint64_t seed, int ranks) {
  for (std::size_t i = 0; i * word_bytes < bytes.size(); ++i) {
    std::uint64_t expected = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      expected += pattern_word(block_seed(seed, static_cast<std::size_t>(rank), 0), i);
    }
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data() + (i * word_bytes), sizeof value);
    if (value != expected) {
      return fmt::format("the sum of {} ranks is wrong at number {} of {}", ranks, i, bytes.size() / word_bytes);
    }
  }
  return {};
}

}  // namespace

const std::vector<std::string>& collective_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    std::ranges::transform(kinds, std::back_inserter(all), &Kind::name);
    return all;
  }();
  return names;
}

bool is_reduction(std::string_view name) { return kind_of(name).adds; }

Collective::Collective(std::string_view name, const MpiProcess& mpi, std::size_t bytes)
    : kind_(kind_of(name)),
      rank_(mpi.rank()),
      ranks_(mpi.size()),
      bytes_(bytes),
      sent_(sent_blocks(kind_, rank_, ranks_) * bytes),
      received_(received_blocks(kind_, rank_, ranks_) * bytes) {}

void Collective::fill(std::uint64_t seed) {
  std::ranges::fill(received_.bytes(), std::byte{0});
  for (std::size_t block = 0; block < sent_blocks(kind_, rank_, ranks_); ++block) {
    const std::size_t receiver = kind_.personal ? block : 0;
    fill_pattern(sent_.bytes().subspan(block * bytes_, bytes_),
                 block_seed(seed, static_cast<std::size_t>(rank_), receiver));
  }
  if (rank_ == root && sent_blocks(kind_, rank_, ranks_) == 0) {  // a broadcast sends from where others receive
    fill_pattern(received_.bytes(), block_seed(seed, root, 0));
  }
}

MPI_Request Collective::start() {
  MPI_Request request = MPI_REQUEST_NULL;
  require(
      kind_.start({.sent = sent_.data(), .received = received_.data(), .bytes = static_cast<int>(bytes_)}, &request),
      kind_.name);
  return request;
}

std::string Collective::check(std::uint64_t seed) const {
  const auto blocks = received_blocks(kind_, rank_, ranks_);
  if (kind_.adds) {
    return blocks == 0 ? std::string() : check_sum(received_.bytes(), seed, ranks_);
  }
  for (std::size_t block = 0; block < blocks; ++block) {
    const std::size_t sender = kind_.from_root ? root : block;
    const std::size_t receiver = kind_.personal ? static_cast<std::size_t>(rank_) : 0;
    auto problem = check_pattern(received_.bytes().subspan(block * bytes_, bytes_), block_seed(seed, sender, receiver));
    if (!problem.empty()) {
      return fmt::format("{}, block of rank {}: {}", kind_.name, sender, problem);
    }
  }
  return {};
}

}  // namespace workloads
