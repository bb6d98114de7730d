// SPDX-License-Identifier: BSD-3-Clause
#include "wakeup/doorbell.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <limits>
#include <new>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace progress_engine {
namespace {

constexpr std::size_t page_size = 4096;
constexpr int drained_at_once = 8;
constexpr std::uint64_t mark = 0x314c4c4542455000;  // tells our pages, and this layout of them

struct Page {
  std::uint64_t mark;
  WakeupLine doorbell;
};
static_assert(sizeof(Page) <= page_size);

Page& as_page(void* memory) { return *static_cast<Page*>(memory); }

// Programs' names may be longer than a socket's: FNV-1a of theirs, and the user.
std::string prefix_of(const std::string& program) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : program) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return fmt::format("progress-engine/{}/{:016x}/", getuid(), hash);
}

// The numbers of "rank/process/descriptor/inode"; -1 for what is none.
std::array<std::int64_t, 4> numbers_in(const std::string& text) {
  std::array<std::int64_t, 4> numbers{-1, -1, -1, -1};
  const char* at = text.data();
  const char* end = at + text.size();
  for (auto& number : numbers) {
    const auto [stop, error] = std::from_chars(at, end, number);
    if (error != std::errc()) number = -1;
    at = stop + (stop != end ? 1 : 0);
  }
  return numbers;
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

OwnDescriptor make_file() {
  OwnDescriptor file(memfd_create("progress-engine-doorbell", MFD_CLOEXEC | MFD_ALLOW_SEALING), "memfd_create");
  if (ftruncate(file.number(), page_size) == 0) fcntl(file.number(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
  return file;
}

// Of its file's name in the kernel; -1 if the file can be no page. The file of another process may be anything: that
// number may have been given away again.
std::int64_t inode_of_page(int descriptor) {
  struct stat status{};
  const bool is_page = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
                       std::cmp_equal(status.st_size, page_size);
  return is_page ? static_cast<std::int64_t>(status.st_ino) : -1;
}

}  // namespace

MappedLine::MappedLine(int descriptor, bool fresh) {
  if (inode_of_page(descriptor) < 0) return;
  void* memory = mmap(nullptr, page_size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED) return;
  if (fresh) new (memory) Page{.mark = mark, .doorbell = {}};
  if (as_page(memory).mark == mark)
    page_ = memory;
  else
    munmap(memory, page_size);
}

MappedLine::~MappedLine() {
  if (page_) munmap(page_, page_size);
}

MappedLine::MappedLine(MappedLine&& other) noexcept : page_(std::exchange(other.page_, nullptr)) {}

WakeupLine& MappedLine::line() const { return as_page(page_).doorbell; }

PublishedLine::PublishedLine(const std::string& program, int rank)
    : file_(make_file()),
      name_(prefix_of(program) + std::to_string(rank) + "/" + std::to_string(getpid()) + "/" +
            std::to_string(file_.number()) + "/" + std::to_string(inode_of_page(file_.number()))),
      page_(file_.number(), true) {
  if (!page_) throw std::runtime_error("the page of the doorbell cannot be mapped");
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
    Neighbour neighbour{-1, line.substr(at + 1)};
    neighbour.rank = static_cast<int>(numbers_in(neighbour.name.substr(prefix.size()))[0]);
    if (neighbour.rank >= 0) found.push_back(neighbour);
  }
  return found;
}

// In another PID namespace the numbers of process and descriptor are another file's, or one's own page's: the inode
// tells. It is looked at before anything is opened, since to open what a stranger has named may already do something.
MappedLine map_line(const std::string& name) {
  const auto place = name.find('/', name.find('/', name.find('/') + 1) + 1);  // after the prefix
  if (place == std::string::npos) return {};
  const auto [rank, process, descriptor, inode] = numbers_in(name.substr(place + 1));
  if (process < 0 || descriptor < 0) return {};
  const auto path = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(descriptor);
  const int seen = open(path.c_str(), O_PATH | O_CLOEXEC);
  if (seen < 0) return {};
  const bool published = inode >= 0 && inode_of_page(seen) == inode;
  const int file = published ? open(("/proc/self/fd/" + std::to_string(seen)).c_str(), O_RDWR | O_CLOEXEC) : -1;
  close(seen);
  if (file < 0) return {};
  const bool stays = (fcntl(file, F_GET_SEALS) & F_SEAL_SHRINK) != 0;  // else it might end under our hands
  MappedLine doorbell = stays ? MappedLine(file, false) : MappedLine();
  close(file);
  return doorbell;
}

// ---- the doorbell

Doorbell::Doorbell(std::string program, int rank, int size, int here)
    : program_(std::move(program)),
      rank_(rank),
      size_(size),
      here_(here > 0 ? here : std::numeric_limits<std::int64_t>::max()),
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
  for (auto& neighbour : find_neighbours(program_))
    if (neighbour.rank != rank_ && neighbour.rank < size_ && !peer_of(neighbour.rank)) add(std::move(neighbour));
}

void Doorbell::look_again() {
  constexpr Nanoseconds times_longer = 100;  // the calls between two looks
  if (all_were_found()) return;
  const Nanoseconds begin = now();
  if (begin < next_look_.load(std::memory_order_relaxed)) return;
  look();
  next_look_.store(begin + times_longer * (now() - begin), std::memory_order_relaxed);
}

void Doorbell::add(Neighbour neighbour) {
  auto mapped = map_line(neighbour.name);
  if (!mapped) return;
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
  return {neighbours_.number.load(std::memory_order_relaxed), rings_.load(std::memory_order_relaxed),
          wakes_.load(std::memory_order_relaxed), bounded_.load(std::memory_order_relaxed)};
}

}  // namespace progress_engine
