// SPDX-License-Identifier: BSD-3-Clause
#include "wakeup/doorbell.hpp"

#include <fmt/format.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <new>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

namespace progress_engine {
namespace {

constexpr std::size_t page_size = 4096;
constexpr int drained_at_once = 8;

// In another IPC namespace a segment's number is another's: so the page says whose it is.
struct Page {
  std::array<char, sizeof(sockaddr_un::sun_path)> name;
  WakeupLine doorbell;
};
static_assert(sizeof(Page) <= page_size);

Page& as_page(void* memory) { return *static_cast<Page*>(memory); }

// Programs' names may be longer than a socket's: FNV-1a of theirs. The first number tells this layout of a page.
std::string prefix_of(const std::string& program) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : program) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return fmt::format("progress-engine/2/{:016x}/", hash);
}

// The number that begins there in the text; -1 if there is none.
int number_at(const std::string& text, std::size_t place) {
  int number = -1;
  if (place < text.size()) std::from_chars(text.data() + place, text.data() + text.size(), number);
  return number;
}

struct Address {
  explicit Address(const std::string& name) {
    address.sun_family = AF_UNIX;
    const auto length = std::min(name.size(), sizeof address.sun_path - 1);
    std::memcpy(address.sun_path + 1, name.data(), length);
    size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
  sockaddr_un address{};
  socklen_t size;
};

int make_segment() {
  const int segment = shmget(IPC_PRIVATE, page_size, IPC_CREAT | 0600);
  if (segment < 0) throw std::system_error(errno, std::generic_category(), "shmget");
  return segment;
}

}  // namespace

// Looked at before it is attached: a stranger may have named anything.
MappedLine::MappedLine(int segment) {
  shmid_ds found{};
  if (shmctl(segment, IPC_STAT, &found) != 0 || found.shm_perm.uid != geteuid() || found.shm_segsz != page_size) return;
  void* const memory = shmat(segment, nullptr, 0);
  if (reinterpret_cast<std::intptr_t>(memory) != -1) page_ = memory;
}

MappedLine::~MappedLine() {
  if (page_) shmdt(page_);
}

MappedLine::MappedLine(MappedLine&& other) noexcept : page_(std::exchange(other.page_, nullptr)) {}

WakeupLine& MappedLine::line() const { return as_page(page_).doorbell; }

PublishedLine::PublishedLine(const std::string& program, int rank) : segment_(make_segment()), page_(segment_) {
  shmctl(segment_, IPC_RMID, nullptr);
  if (!page_) throw std::runtime_error("the page of the doorbell cannot be attached");
  name_ = fmt::format("{}{}/{}/{}", prefix_of(program), rank, segment_, now());
  auto* const page = new (page_.page()) Page{};
  name_.copy(page->name.data(), page->name.size());
  socket_ = OwnDescriptor(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "socket");
  const Address address(name_);
  if (bind(socket_.number(), address.get(), address.size) != 0)
    throw std::system_error(errno, std::generic_category(), "bind");
}

bool PublishedLine::drain() const {
  if (!socket_.is_ours()) return true;
  char byte = 0;
  for (int i = 0; i < drained_at_once; ++i)
    if (recv(socket_.number(), &byte, 1, 0) < 0) return true;
  return false;
}

// A full queue is as good: then it has been woken already.
void PublishedLine::wake(const std::string& name) const {
  if (!socket_.is_ours()) return;
  const Address address(name);
  [[maybe_unused]] const auto sent = sendto(socket_.number(), "", 1, MSG_NOSIGNAL, address.get(), address.size);
}

std::vector<Neighbour> find_neighbours(const std::string& program) {
  const auto prefix = prefix_of(program);
  std::vector<Neighbour> found;
  std::ifstream sockets("/proc/self/net/unix");
  for (std::string line; std::getline(sockets, line);) {
    const auto at = line.find('@' + prefix);
    if (at == std::string::npos) continue;
    auto name = line.substr(at + 1);
    if (const int rank = number_at(name, prefix.size()); rank >= 0) found.push_back({rank, std::move(name)});
  }
  return found;
}

MappedLine map_line(const std::string& name) {
  const auto end = name.rfind('/');
  if (end == std::string::npos || end == 0) return {};
  MappedLine mapped(number_at(name, name.rfind('/', end - 1) + 1));
  if (!mapped) return {};
  const auto& owner = as_page(mapped.page()).name;
  return name == std::string_view(owner.data(), strnlen(owner.data(), owner.size())) ? std::move(mapped) : MappedLine();
}

// ---- the doorbell

Doorbell::Doorbell(std::string program, int rank, int size, int here)
    : program_(std::move(program)),
      rank_(rank),
      size_(size),
      here_(here > 0 ? here : nobody_knows),
      published_(program_, rank) {
  places_ = all_places_.emplace_back(std::make_unique<Places>(bits_)).get();
  look();
}

Doorbell::~Doorbell() {
  for (Peer* peer = neighbours_.first.load(); peer;) {
    Peer* next = peer->next;
    delete peer;
    peer = next;
  }
}

void Doorbell::add_partner(Peer& peer) {
  if (peer.partner.exchange(true, std::memory_order_relaxed)) return;
  peer.next_partner = partners_.first.load(std::memory_order_relaxed);
  while (!partners_.first.compare_exchange_weak(peer.next_partner, &peer, std::memory_order_release)) {
  }
  partners_.number.fetch_add(1, std::memory_order_release);  // after the head: who sees the number sees as many
}

// They are partners from now on. Returns how many were rung.
int Doorbell::ring_first_partners(int most) {
  const std::int64_t size = size_;
  int rung = 0;
  for (std::int64_t distance = 1; distance < size; distance *= 2) {
    const auto above = static_cast<int>((rank_ + distance) % size);
    const auto below = static_cast<int>((rank_ - distance + size) % size);
    for (Peer* peer : {peer_of(above), above != below ? peer_of(below) : nullptr}) {
      if (!peer) continue;
      make_partner(*peer);
      if (rung == most) continue;
      ring(*peer);
      ++rung;
    }
  }
  return rung;
}

// Several threads at once may ring the same ones: a ring is worth no less for having been made twice. Returns how many
// were rung.
int Doorbell::ring_some(Turns& turns, Peer* Peer::* next, int most) {
  const auto number = turns.number.load(std::memory_order_acquire);
  const int rings = static_cast<int>(std::min<std::uint64_t>(number, static_cast<std::uint64_t>(most)));
  Peer* peer = turns.next.load(std::memory_order_acquire);
  for (int i = 0; i < rings; ++i) {
    if (!peer) peer = turns.first.load(std::memory_order_acquire);
    ring(*peer);
    peer = peer->*next;
  }
  turns.next.store(peer, std::memory_order_release);
  return rings;
}

void Doorbell::ring_partners(bool all) {
  constexpr int of_others = 2;  // where there are partners enough for all rings
  if (all) all_.store(true, std::memory_order_relaxed);
  const bool everybody = all_.load(std::memory_order_relaxed);
  const auto neighbours = neighbours_.number.load(std::memory_order_relaxed);
  int rung = 0;
  if (everybody && neighbours > rings_at_once)
    rung = all ? ring_first_partners(rings_at_once - of_others)
               : ring_some(partners_, &Peer::next_partner, partners_at_once - of_others);
  if (everybody)
    rung += ring_some(neighbours_, &Peer::next, std::max(of_others, rings_at_once - rung));
  else
    rung = ring_some(partners_, &Peer::next_partner, partners_at_once);
  rings_.fetch_add(static_cast<std::uint64_t>(rung), std::memory_order_relaxed);
  if (static_cast<std::uint64_t>(rung) < (everybody ? neighbours : partners_.number.load(std::memory_order_relaxed)))
    bounded_.fetch_add(1, std::memory_order_relaxed);
}

void Doorbell::ring_own() {
  own().ring([this] { published_.wake(published_.name()); });
}

void Doorbell::look_around() {
  if (!all_were_found()) look();
}

void Doorbell::look() {
  const std::unique_lock lock(looking_, std::try_to_lock);
  if (!lock) return;
  for (auto& neighbour : find_neighbours(program_)) {
    const int rank = neighbour.rank;
    if (rank == rank_ || rank >= size_) continue;
    if (peer_of(rank) || add(std::move(neighbour)))
      unreached_.erase(rank);
    else
      unreached_.insert(rank);
  }
  number_unreached_.store(unreached_.size(), std::memory_order_relaxed);
}

void Doorbell::look_again() {
  constexpr Nanoseconds times_longer = 100;  // the calls between two looks
  if (all_were_found()) return;
  const Nanoseconds begin = now();
  if (begin < next_look_.load(std::memory_order_relaxed)) return;
  look();
  next_look_.store(begin + times_longer * (now() - begin), std::memory_order_relaxed);
}

bool Doorbell::add(Neighbour neighbour) {
  auto mapped = map_line(neighbour.name);
  if (!mapped) return false;
  const int rank = neighbour.rank;
  auto* peer = new Peer{std::move(neighbour), std::move(mapped), neighbours_.first.load(std::memory_order_relaxed)};
  neighbours_.first.store(peer, std::memory_order_release);
  if (all_places_.back()->has_room_for(neighbours() + 1)) {
    all_places_.back()->insert(rank, peer);
  } else {
    constexpr int more_bits = 2;
    bits_ += more_bits;
    auto larger = std::make_unique<Places>(bits_);
    for (Peer* known = peer; known; known = known->next) larger->insert(known->neighbour.rank, known);
    places_.store(all_places_.emplace_back(std::move(larger)).get(), std::memory_order_release);
  }
  neighbours_.number.fetch_add(1, std::memory_order_release);
  return true;
}

void Doorbell::Places::insert(int rank, Peer* peer) {
  std::size_t at = first(rank);
  while (places_[at].peer.load(std::memory_order_relaxed)) at = next(at);
  places_[at].rank = rank;
  places_[at].peer.store(peer, std::memory_order_release);
}

std::vector<int> Doorbell::ranks_of_neighbours() const {
  std::vector<int> ranks;
  for (const Peer* peer = neighbours_.first.load(std::memory_order_acquire); peer; peer = peer->next)
    ranks.push_back(peer->neighbour.rank);
  return ranks;
}

Doorbell::Counts Doorbell::counts() const {
  const auto known = neighbours_.number.load(std::memory_order_relaxed);
  auto unreached = number_unreached_.load(std::memory_order_relaxed);
  if (here_ != nobody_knows && !all_were_found())
    unreached = std::max(unreached, static_cast<std::uint64_t>(here_) - 1 - known);
  return {known, unreached, rings_.load(std::memory_order_relaxed), wakes_.load(std::memory_order_relaxed),
          bounded_.load(std::memory_order_relaxed)};
}

}  // namespace progress_engine
