// SPDX-License-Identifier: BSD-3-Clause
#include "minife/product.h"

#include <array>

namespace workloads::minife {
namespace {

class Blocking final : public Product {
 public:
  explicit Blocking(const Block& block)
      : matrix_(block.matrix), halo_(block.rank, block.neighbours, block.matrix.layout(), 1) {}

  void multiply(Vector& in, Vector& out, Calls& calls) override {
    const std::array field{in.data()};
    calls.make(Call::irecv, [&] { halo_.post_receives(); });
    halo_.pack(field);
    calls.make(Call::send, [&] { halo_.send(); });
    calls.make(Call::wait, [&] { halo_.wait(); });
    halo_.unpack(field);
    matrix_.multiply(matrix_.layout().inside(0), in.data(), out.data());
  }

 private:
  const Matrix& matrix_;
  HaloExchange<double> halo_;
};

class Overlapped final : public Product {
 public:
  explicit Overlapped(const Block& block)
      : matrix_(block.matrix),
        halo_(block.rank, block.neighbours, block.matrix.layout(), 1),
        first_(block.without_neighbours),
        then_(shell(block.matrix.layout().inside(0), first_)) {}

  void multiply(Vector& in, Vector& out, Calls& calls) override {
    const std::array field{in.data()};
    calls.make(Call::irecv, [&] { halo_.post_receives(); });
    halo_.pack(field);
    calls.make(Call::send, [&] { halo_.start_sends(); });
    matrix_.multiply(first_, in.data(), out.data());
    calls.make(Call::wait, [&] { halo_.wait(); });
    halo_.unpack(field);
    for (const Box& rows : then_) {
      matrix_.multiply(rows, in.data(), out.data());
    }
  }

 private:
  const Matrix& matrix_;
  HaloExchange<double> halo_;
  Box first_;
  std::vector<Box> then_;
};

}  // namespace

std::unique_ptr<Product> blocking_product(const Block& block) { return std::make_unique<Blocking>(block); }

std::unique_ptr<Product> overlapped_product(const Block& block) { return std::make_unique<Overlapped>(block); }

}  // namespace workloads::minife
