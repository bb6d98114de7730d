// SPDX-License-Identifier: BSD-3-Clause
// Real verbs beneath the engine's event source, without an MPI: two connected queue pairs of one device, one thread
// that sends at its own times, and one that does what the engine's event loop and an MPI do: poll, arm, sleep.
//
//     verbs_events DEVICE GID_INDEX MESSAGES
//
// It prints what was counted, a line each, and ends with status 1 where a wait did not end although a message came.
#include <infiniband/verbs.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "fabrics/fabrics.hpp"
#include "wait/event_source.hpp"
#include "wait/fabrics.hpp"

namespace {

using namespace progress_engine;

constexpr Nanoseconds limit = seconds(30);  // of one wait: a message comes much sooner
constexpr int most_posted = 64;
constexpr int length = 32;

template <typename T>
T* valid(T* object, const char* what) {
  if (object) return object;
  std::perror(what);
  std::exit(2);
}
void valid(int status, const char* what) {
  if (status == 0) return;
  std::fprintf(stderr, "%s: %d\n", what, status);
  std::exit(2);
}

ibv_context* open_device(const std::string& name) {
  int count = 0;
  ibv_device** devices = ibv_get_device_list(&count);
  for (int i = 0; devices && i < count; ++i)
    if (name == ibv_get_device_name(devices[i])) return valid(ibv_open_device(devices[i]), "ibv_open_device");
  return valid(static_cast<ibv_context*>(nullptr), "no such device");
}

// What an MPI calls in place of a function of libibverbs'.
template <typename Function>
Function replaced(std::size_t which, Function theirs) {
  const Replaced& call = verbs_calls()[which];
  *call.theirs = reinterpret_cast<void*>(theirs);
  return reinterpret_cast<Function>(call.ours);
}
const auto create_cq = replaced(0, &ibv_create_cq);
const auto destroy_cq = replaced(1, &ibv_destroy_cq);

struct End {
  ibv_cq* cq;
  ibv_qp* qp;
};

End make_end(ibv_context* context, ibv_pd* domain) {
  End end{};
  end.cq = valid(create_cq(context, 2 * most_posted, nullptr, nullptr, 0), "ibv_create_cq");
  ibv_qp_init_attr wanted{};
  wanted.send_cq = wanted.recv_cq = end.cq;
  wanted.cap = {.max_send_wr = most_posted,
                .max_recv_wr = most_posted,
                .max_send_sge = 1,
                .max_recv_sge = 1,
                .max_inline_data = 0};
  wanted.qp_type = IBV_QPT_RC;
  end.qp = valid(ibv_create_qp(domain, &wanted), "ibv_create_qp");
  return end;
}

void connect(ibv_qp* qp, ibv_qp* peer, const union ibv_gid& gid, int gid_index) {
  ibv_qp_attr state{};
  state.qp_state = IBV_QPS_INIT;
  state.port_num = 1;
  valid(ibv_modify_qp(qp, &state, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), "to INIT");
  state.qp_state = IBV_QPS_RTR;
  state.path_mtu = IBV_MTU_1024;
  state.dest_qp_num = peer->qp_num;
  state.max_dest_rd_atomic = 1;
  state.min_rnr_timer = 12;
  state.ah_attr.is_global = 1;
  state.ah_attr.grh.dgid = gid;
  state.ah_attr.grh.sgid_index = static_cast<std::uint8_t>(gid_index);
  state.ah_attr.grh.hop_limit = 1;
  state.ah_attr.port_num = 1;
  valid(ibv_modify_qp(qp, &state,
                      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                          IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
        "to RTR");
  state.qp_state = IBV_QPS_RTS;
  state.timeout = 14;
  state.retry_cnt = state.rnr_retry = 7;
  state.max_rd_atomic = 1;
  valid(ibv_modify_qp(qp, &state,
                      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                          IBV_QP_MAX_QP_RD_ATOMIC),
        "to RTS");
}

ibv_sge element(ibv_mr* memory) {
  return {.addr = reinterpret_cast<std::uintptr_t>(memory->addr), .length = length, .lkey = memory->lkey};
}

void post_receive(ibv_qp* qp, ibv_mr* memory) {
  ibv_sge to = element(memory);
  ibv_recv_wr wanted{.wr_id = 0, .next = nullptr, .sg_list = &to, .num_sge = 1};
  ibv_recv_wr* bad = nullptr;
  valid(ibv_post_recv(qp, &wanted, &bad), "ibv_post_recv");
}

void send(ibv_qp* qp, ibv_mr* memory) {
  ibv_sge from = element(memory);
  ibv_send_wr wanted{};
  wanted.sg_list = &from;
  wanted.num_sge = 1;
  wanted.opcode = IBV_WR_SEND;
  wanted.send_flags = IBV_SEND_SIGNALED;
  ibv_send_wr* bad = nullptr;
  valid(ibv_post_send(qp, &wanted, &bad), "ibv_post_send");
}

int poll_once(ibv_cq* cq) {
  std::array<ibv_wc, 8> completions{};
  const int found = ibv_poll_cq(cq, completions.size(), completions.data());
  for (int i = 0; i < found; ++i) valid(completions[static_cast<std::size_t>(i)].status, "a completion");
  return valid(found < 0 ? found : 0, "ibv_poll_cq"), found;
}

// Every message after the first few is sent when the receiver is about to sleep, sleeps, or is awake again.
void send_all(const End& sender, ibv_mr* memory, int messages, const std::atomic<int>& received) {
  int completed = 0;
  for (int i = 0; i < messages; ++i) {
    if (i % 4 == 0)
      while (received.load() < i) std::this_thread::yield();
    if (i % 16 == 0) std::this_thread::sleep_for(std::chrono::microseconds(i % 7 * 100));
    send(sender.qp, memory);
    while (i + 1 - completed >= most_posted / 2) completed += poll_once(sender.cq);
  }
  while (completed < messages) completed += poll_once(sender.cq);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return std::fprintf(stderr, "usage: verbs_events DEVICE GID_INDEX MESSAGES\n"), 2;
  const int gid_index = std::atoi(argv[2]);
  const int messages = std::atoi(argv[3]);
  Fabrics& fabrics = fabrics_of_process();
  fabrics.want(Fabric::verbs, true);
  ibv_context* context = open_device(argv[1]);
  union ibv_gid gid{};
  valid(ibv_query_gid(context, 1, gid_index, &gid), "ibv_query_gid");
  ibv_pd* domain = valid(ibv_alloc_pd(context), "ibv_alloc_pd");
  std::vector<char> buffer(length);
  ibv_mr* memory = valid(ibv_reg_mr(domain, buffer.data(), length, IBV_ACCESS_LOCAL_WRITE), "ibv_reg_mr");
  const End receiver = make_end(context, domain);
  const End sender = make_end(context, domain);
  connect(receiver.qp, sender.qp, gid, gid_index);
  connect(sender.qp, receiver.qp, gid, gid_index);
  for (int i = 0; i < most_posted; ++i) post_receive(receiver.qp, memory);

  EpollEvents events(Sockets::none, &fabrics);
  std::atomic<int> received{0};
  const auto poll = [&] {
    const int found = poll_once(receiver.cq);
    for (int i = 0; i < found; ++i) post_receive(receiver.qp, memory);
    received += found;
    return true;
  };
  std::thread device([&] { send_all(sender, memory, messages, received); });
  int lost = 0;
  while (received.load() < messages && lost == 0) {
    if (!events.arm(poll).armed || received.load() == messages) continue;
    const bool woken = events.wait(limit);
    const int before = received.load();
    poll();
    if (!woken && received.load() > before) ++lost;
  }
  while (received.load() < messages) poll();
  device.join();

  events.arm(poll);  // destroyed while it is armed
  const auto counts = events.counts();
  std::printf("watched %d\n", fabrics.find(receiver.cq).descriptor >= 0 ? 1 : 0);
  std::printf("received %d\nlost %d\n", received.load(), lost);
  std::printf("wakes %llu\narmed %llu\nbusy %llu\n",
              static_cast<unsigned long long>(counts.by_fabric[index(Fabric::verbs)]),
              static_cast<unsigned long long>(counts.armed[index(Fabric::verbs)]),
              static_cast<unsigned long long>(counts.busy));
  for (const End& end : {receiver, sender}) {
    valid(ibv_destroy_qp(end.qp), "ibv_destroy_qp");
    valid(destroy_cq(end.cq), "ibv_destroy_cq");
  }
  valid(ibv_dereg_mr(memory), "ibv_dereg_mr");
  valid(ibv_dealloc_pd(domain), "ibv_dealloc_pd");
  valid(ibv_close_device(context), "ibv_close_device");
  std::printf("destroyed\n");
  return lost == 0 ? 0 : 1;
}
