// SPDX-License-Identifier: BSD-3-Clause
// Of a library that is called as UCX's for verbs is: it makes its completion queues by itself.
#include "fabrics/abi.hpp"

extern "C" progress_engine::verbs::Cq* ibv_create_cq(progress_engine::verbs::Context* context, int entries,
                                                     void* cq_context, progress_engine::verbs::Channel* channel,
                                                     int vector);

extern "C" void fake_uct_create_cq(progress_engine::verbs::Context* context, progress_engine::verbs::Cq** cq) {
  *cq = ibv_create_cq(context, 16, nullptr, nullptr, 0);
}
