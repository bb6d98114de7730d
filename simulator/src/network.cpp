// SPDX-License-Identifier: BSD-3-Clause
#include "network.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <deque>
#include <filesystem>
#include <limits>
#include <map>
#include <simgrid/s4u.hpp>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/errors.h"

// behind s4u.hpp, whose macros it needs
#include <simgrid/version.h>

namespace simulated {

namespace s4u = simgrid::s4u;
namespace resource = simgrid::kernel::resource;

namespace {

constexpr int usage_status = 2;
constexpr Seconds same_time = 1e-12;  // SimGrid tells no times apart that are nearer

/// By default SimGrid lets no wait be shorter than 10 us, which a round of a collective on a fast network is.
/// SimGrid's own corrections are of networks that others measured; what was measured here stands in the platform file.
constexpr std::array options{
    "--cfg=network/model:CM02",       "--cfg=network/crosstraffic:0", "--cfg=network/bandwidth-factor:1",
    "--cfg=network/latency-factor:1", "--cfg=network/TCP-gamma:0",    "--cfg=surf/precision:1e-12",
    "--log=root.thres:critical",
};

std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

/// SimGrid throws where it cannot read a file, and aborts where a word in it means nothing to it.
void load(s4u::Engine& engine, const std::string& platform) {
  const auto give_up = [](int /*signal*/) {
    constexpr std::string_view sentence = "simulate: --platform: SimGrid gives this file up, for the reason above\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, sentence.data(), sentence.size());
    _exit(usage_status);
  };
  const auto before = std::signal(SIGABRT, give_up);
  try {
    engine.load_platform(platform);
    engine.seal_platform();
  } catch (const std::exception& error) {
    throw workloads::UsageError(
        fmt::format("--platform {}: SimGrid cannot read it: {}", platform, one_line(error.what())));
  }
  std::signal(SIGABRT, before);
}

}  // namespace

class Network::Implementation {
 public:
  explicit Implementation(const std::string& platform) : engine_(make_engine()) {
    if (!std::filesystem::is_regular_file(platform)) {
      throw workloads::UsageError(fmt::format("--platform {}: there is no such file", platform));
    }
    load(*engine_, platform);
    hosts_ = engine_->get_all_hosts();
    order_hosts();
    check(platform);
    for (auto* link : engine_->get_all_links()) {
      latencies_[link] = link->get_latency();
      link->set_latency(0);
    }
    // Told of every transfer that ends, by the only signal that needs no actor to wait for each. A NetworkAction is an
    // Action, which SimGrid's public headers do not say.
    s4u::Link::on_communication_state_change_cb([this](resource::NetworkAction& action, auto /*before*/) {
      auto& base = reinterpret_cast<resource::Action&>(action);  // NOLINT(*-reinterpret-cast)
      if (base.get_state() == resource::Action::State::FINISHED) {
        ended(base.get_activity());
      }
    });
  }

  [[nodiscard]] int hosts() const { return static_cast<int>(hosts_.size()); }

  void run(Action begin) {
    agenda_.add(0, std::move(begin));
    something_ = s4u::Semaphore::create(0);
    s4u::Actor::create("driver", hosts_.front(), [this] { drive(); });
    engine_->run();
  }

  /// Never before what happens now was to happen: SimGrid's clock may be a little behind.
  [[nodiscard]] Seconds now() const { return std::max(now_, s4u::Engine::get_clock()); }

  void at(Seconds time, Action action) { agenda_.add(time, std::move(action)); }

  /// One behind the other from host to host, as on a connection. If all of a batch shared the bandwidth, the first
  /// would arrive with the last, and every hop of a ring would wait for whole batches.
  void move(int from, int to, Bytes bytes, Action left) {
    auto& waiting = connections_[{from, to}];
    waiting.push_back({.bytes = bytes, .left = std::move(left)});
    if (waiting.size() == 1) {
      begin_first(from, to, bytes);
    }
  }

  [[nodiscard]] Seconds latency(int from, int to) const {
    std::vector<s4u::Link*> route;
    Seconds unused = 0;
    host(from)->route_to(host(to), route, &unused);
    Seconds sum = 0;
    for (auto* link : route) {
      sum += latencies_.at(link);
    }
    return sum;
  }

 private:
  struct Transfer {
    Bytes bytes;
    Action left;
  };

  void begin_first(int from, int to, Bytes bytes) {
    const auto transfer = s4u::Comm::sendto_init();
    transfer->set_payload_size(bytes);
    transfer->detach();
    transfer->set_source(host(from));
    transfer->set_destination(host(to));  // now it begins
    under_way_[transfer->get_impl()] = [this, from, to] { end_first(from, to); };
  }

  void end_first(int from, int to) {
    const auto found = connections_.find({from, to});
    auto& waiting = found->second;
    const Action left = std::move(waiting.front().left);
    waiting.pop_front();
    if (waiting.empty()) {
      connections_.erase(found);
    } else {
      begin_first(from, to, waiting.front().bytes);
    }
    left();
  }

  static s4u::Engine* make_engine() {
    std::vector<std::string> words{"simulate"};
    words.insert(words.end(), options.begin(), options.end());
    std::vector<char*> arguments;
    std::ranges::transform(words, std::back_inserter(arguments), [](std::string& word) { return word.data(); });
    int count = static_cast<int>(arguments.size());
    static s4u::Engine engine(&count, arguments.data());
    return &engine;
  }

  /// What SimGrid finds out in the middle of a simulation, and ends the process for.
  void check(const std::string& platform) const {
    for (const auto* link : engine_->get_all_links()) {
      if (!(link->get_bandwidth() > 0) || !(link->get_latency() >= 0)) {
        throw workloads::UsageError(fmt::format(
            "--platform {}: link {} wants a bandwidth above 0 and no negative latency", platform, link->get_name()));
      }
    }
    for (std::size_t i = 1; i < hosts_.size(); ++i) {  // not each to each: there are thousands
      std::vector<s4u::Link*> route;
      Seconds unused = 0;
      hosts_[i - 1]->route_to(hosts_[i], route, &unused);
      if (route.empty()) {
        throw workloads::UsageError(fmt::format("--platform {}: no route from {} to {}", platform,
                                                hosts_[i - 1]->get_name(), hosts_[i]->get_name()));
      }
    }
  }

  /// By the number in the name, as clusters name them: SimGrid's order is that of the names as text.
  void order_hosts() {
    const auto number = [](const s4u::Host* host) {
      const auto& name = host->get_name();
      const auto digit = name.find_first_of("0123456789");
      if (digit == std::string::npos) {
        return 0L;
      }
      long value = std::numeric_limits<long>::max();  // left where the number is a larger one
      std::from_chars(name.data() + digit, name.data() + name.size(), value);
      return value;
    };
    std::ranges::stable_sort(hosts_, {}, number);
  }

  [[nodiscard]] s4u::Host* host(int rank) const { return hosts_[static_cast<std::size_t>(rank)]; }

  void ended(const simgrid::kernel::activity::ActivityImpl* transfer) {
    const auto found = under_way_.find(transfer);
    if (found == under_way_.end()) {
      return;
    }
    happened_.push_back(std::move(found->second));
    under_way_.erase(found);
    if (happened_.size() == 1) {
      something_->release();
    }
  }

  /// Everything that is simulated runs in this one actor: SimGrid has the network, and no rank is an actor.
  void drive() {
    for (;;) {
      while (!happened_.empty()) {
        const auto now_done = std::exchange(happened_, {});
        for (const auto& action : now_done) {
          action();
        }
      }
      if (!agenda_.empty() && agenda_.first() <= now() + same_time) {
        now_ = std::max(now_, agenda_.first());
        agenda_.take()();
      } else if (!agenda_.empty()) {
        something_->acquire_timeout(agenda_.first() - now());
      } else if (!under_way_.empty()) {
        something_->acquire();
      } else {
        return;
      }
    }
  }

  s4u::Engine* engine_;
  std::vector<s4u::Host*> hosts_;
  std::unordered_map<s4u::Link*, Seconds> latencies_;
  std::unordered_map<const simgrid::kernel::activity::ActivityImpl*, Action> under_way_;
  std::map<std::pair<int, int>, std::deque<Transfer>> connections_;  ///< by source and destination; the first moves
  std::vector<Action> happened_;
  s4u::SemaphorePtr something_;
  Agenda agenda_;
  Seconds now_ = 0;
};

Network::Network(const std::string& platform) : implementation_(std::make_unique<Implementation>(platform)) {}
Network::~Network() = default;
std::string Network::version() { return fmt::format("{}.{}", SIMGRID_VERSION_MAJOR, SIMGRID_VERSION_MINOR); }
int Network::hosts() const { return implementation_->hosts(); }
void Network::run(Action begin) { implementation_->run(std::move(begin)); }
Seconds Network::now() const { return implementation_->now(); }
void Network::at(Seconds time, Action action) { implementation_->at(time, std::move(action)); }
void Network::move(int from, int to, Bytes bytes, Action left) {
  implementation_->move(from, to, bytes, std::move(left));
}
Seconds Network::latency(int from, int to) { return implementation_->latency(from, to); }

}  // namespace simulated
