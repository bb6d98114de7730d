// SPDX-License-Identifier: BSD-3-Clause
#include "minife/product.h"

#include <array>

#include "minife/method.h"

namespace workloads::minife {
namespace {

class HaloProduct final : public Product, private ProductSteps {
 public:
  HaloProduct(const Block& block, bool overlapped)
      : matrix_(block.matrix),
        halo_(block.rank, block.neighbours, block.matrix.layout(), 1),
        overlapped_(overlapped),
        inner_(block.without_neighbours),
        outer_(shell(block.matrix.layout().inside(0), inner_)) {}

  void multiply(Vector& in, Vector& out, Calls& calls) override {
    in_ = in.data();
    out_ = out.data();
    calls_ = &calls;
    multiply_by(*this, overlapped_);
  }

 private:
  void post_receives() override {
    calls_->make(Call::irecv, [&] { halo_.post_receives(); });
  }
  void pack() override { halo_.pack(std::array{in_}); }
  void send() override {
    calls_->make(Call::send, [&] { halo_.send(); });
  }
  void start_sends() override {
    calls_->make(Call::send, [&] { halo_.start_sends(); });
  }
  void wait() override {
    calls_->make(Call::wait, [&] { halo_.wait(); });
  }
  void unpack() override { halo_.unpack(std::array{in_}); }
  void multiply_rows(Rows rows) override {
    if (rows == Rows::outer) {
      for (const Box& box : outer_) {
        matrix_.multiply(box, in_, out_);
      }
    } else {
      matrix_.multiply(rows == Rows::all ? matrix_.layout().inside(0) : inner_, in_, out_);
    }
  }

  const Matrix& matrix_;
  HaloExchange<double> halo_;
  bool overlapped_;
  Box inner_;
  std::vector<Box> outer_;
  double* in_ = nullptr;
  double* out_ = nullptr;
  Calls* calls_ = nullptr;
};

}  // namespace

std::unique_ptr<Product> blocking_product(const Block& block) { return std::make_unique<HaloProduct>(block, false); }

std::unique_ptr<Product> overlapped_product(const Block& block) { return std::make_unique<HaloProduct>(block, true); }

}  // namespace workloads::minife
