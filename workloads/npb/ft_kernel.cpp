// SPDX-License-Identifier: BSD-3-Clause
// NPB FT without its messages: the values that verify it, the field, its transforms.
#include "npb/ft_kernel.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "common/vectorised.h"
#include "npb/generator.h"

namespace workloads::npb {
namespace {

// The sums that verify FT, from the specification of NPB 3.4.

using Sum = std::complex<double>;

constexpr std::array<Sum, 6> sums_s{{{554.6087004964, 484.5363331978},
                                     {554.6385409189, 486.5304269511},
                                     {554.6148406171, 488.3910722336},
                                     {554.5423607415, 490.1273169046},
                                     {554.4255039624, 491.7475857993},
                                     {554.2683411902, 493.2597244941}}};
constexpr std::array<Sum, 6> sums_w{{{567.3612178944, 529.3246849175},
                                     {563.1436885271, 528.2149986629},
                                     {559.402408997, 527.0996558037},
                                     {556.069804702, 526.0027904925},
                                     {553.089899125, 524.9400845633},
                                     {550.4159734538, 523.9212247086}}};
constexpr std::array<Sum, 6> sums_a{{{504.6735008193, 511.404790551},
                                     {505.9412319734, 509.8809666433},
                                     {506.9376896287, 509.8144042213},
                                     {507.7892868474, 510.1336130759},
                                     {508.5233095391, 510.4914655194},
                                     {509.1487099959, 510.7917842803}}};
constexpr std::array<Sum, 20> sums_b{
    {{517.7643571579, 507.7803458597}, {515.4521291263, 508.8249431599}, {514.6409228649, 509.6208912659},
     {514.2378756213, 510.1023387619}, {513.9626667737, 510.3976610617}, {513.7423460082, 510.5948019802},
     {513.5547056878, 510.7404165783}, {513.3910925466, 510.8576573661}, {513.247070539, 510.9577278523},
     {513.1197729984, 511.0460304483}, {513.0070319283, 511.12524338},   {512.9070537032, 511.1968077718},
     {512.8182883502, 511.2616233064}, {512.7393733383, 511.3203605551}, {512.669106202, 511.3735928093},
     {512.6064276004, 511.4218460548}, {512.550407657, 511.465613976},   {512.500233172, 511.5053595966},
     {512.4551951846, 511.5415130407}, {512.4146770029, 511.5744692211}}};
constexpr std::array<Sum, 20> sums_c{
    {{519.5078707457, 514.9019699238}, {515.5422171134, 512.7578201997}, {514.4678022222, 512.2251847514},
     {514.0150594328, 512.1090289018}, {513.755042681, 512.1143685824},  {513.5811056728, 512.1496764568},
     {513.4569343165, 512.1870921893}, {513.3651975661, 512.2193250322}, {513.2955192805, 512.2454735794},
     {513.2410471738, 512.2663649603}, {513.1971141679, 512.2830879827}, {513.1605205716, 512.2965869718},
     {513.1290734194, 512.3075927445}, {513.1012720314, 512.3166486553}, {513.0760908195, 512.3241541685},
     {513.0528295923, 512.3304037599}, {513.0310107773, 512.3356167976}, {513.0103090133, 512.3399592211},
     {512.9905029333, 512.3435588985}, {512.9714421109, 512.3465164008}}};
constexpr std::array<Sum, 25> sums_d{
    {{512.2230065252, 511.8534037109}, {512.0463975765, 511.7061181082}, {511.986576676, 511.7096364601},
     {511.9518799488, 511.737386395},  {511.9269088223, 511.7680347632}, {511.9082416858, 511.7967875532},
     {511.8943814638, 511.8225281841}, {511.8842385057, 511.8451629348}, {511.8769435632, 511.8649119387},
     {511.8718203448, 511.8820803844}, {511.8683569061, 511.8969781011}, {511.8661708593, 511.9098918835},
     {511.864976895, 511.9210777066},  {511.8645605626, 511.9307604484}, {511.8647586618, 511.9391362671},
     {511.8654451572, 511.9463757241}, {511.8665212451, 511.9526269238}, {511.8679083821, 511.9580184108},
     {511.8695433664, 511.9626617538}, {511.8713748264, 511.9666538138}, {511.8733606701, 511.9700787219},
     {511.8754661974, 511.9730095953}, {511.8776626738, 511.9755100241}, {511.8799262314, 511.9776353561},
     {511.8822370068, 511.979433806}}};

}  // namespace

const std::array<FtClass, 6>& ft_classes() noexcept {
  static constexpr std::array<FtClass, 6> table{{
      {"S", {64, 64, 64}, sums_s},
      {"W", {128, 128, 32}, sums_w},
      {"A", {256, 256, 128}, sums_a},
      {"B", {512, 256, 256}, sums_b},
      {"C", {512, 512, 512}, sums_c},
      {"D", {2048, 1024, 1024}, sums_d},
  }};
  return table;
}

namespace {

fft::Kind kind(bool forward) { return forward ? fft::Kind::forward : fft::Kind::backward; }

/// Of the wave that index `i` of `n` stands for.
double square_of_wave(int i, int n) {
  const double wave = i < n / 2 ? i : i - n;
  return wave * wave;
}

/// Calls action(first point of the message's row, first point of the planes' row) for each run of rows of one rank and
/// one plane: `rows` rows that are contiguous in both.
template <class Action>
void for_each_run(const FtShare& share, int chunk, Action action) {
  const std::size_t run = std::size_t{1} * share.rows * share.nx;
  std::size_t message = 0;
  for (int rank = 0; rank < share.ranks; ++rank) {
    const int y = ((rank * share.chunks) + chunk) * share.rows;
    for (int z = 0; z < share.planes; ++z, message += run) {
      action(message, ((std::size_t{1} * z * share.ny) + y) * share.nx, run);
    }
  }
}

}  // namespace

bool is_right(const FtClass& problem, std::size_t iteration, Complex sum) noexcept {
  constexpr double tolerance = 1e-12;
  const Complex right = problem.sums[iteration];
  return std::abs(sum - right) <= tolerance * std::abs(right);
}

FtShare::FtShare(const FtClass& problem, int my_rank, int all_ranks, int most_chunks)
    : rank(my_rank),
      ranks(all_ranks),
      chunks(std::min(most_chunks, problem.points[1] / all_ranks)),
      nx(problem.points[0]),
      ny(problem.points[1]),
      nz(problem.points[2]),
      planes(nz / ranks),
      rows(ny / ranks / chunks) {}

void ft_start(const FtShare& share, std::span<Complex> planes) {
  Generator numbers(2 * share.points() * static_cast<std::size_t>(share.rank));
  for (Complex& value : planes) {
    const double real = numbers.next();
    value = {real, numbers.next()};
  }
}

void ft_decay(const FtShare& share, std::span<double> decay) {
  constexpr double alpha = 1e-6;
  constexpr double factor = -4 * alpha * std::numbers::pi * std::numbers::pi;
  auto next = decay.begin();
  for (int chunk = 0; chunk < share.chunks; ++chunk) {
    for (int z = 0; z < share.nz; ++z) {
      for (int row = 0; row < share.rows; ++row) {
        const int y = (((share.rank * share.chunks) + chunk) * share.rows) + row;
        const double across = square_of_wave(y, share.ny) + square_of_wave(z, share.nz);
        for (int x = 0; x < share.nx; ++x) {
          *next++ = std::exp(factor * (square_of_wave(x, share.nx) + across));
        }
      }
    }
  }
}

WORKLOADS_VECTORISED void ft_evolve(std::span<const double> decay, std::span<Complex> columns,
                                    std::span<Complex> copy) {
  for (std::size_t i = 0; i < decay.size(); ++i) {
    const Complex value = columns[i] * decay[i];
    columns[i] = value;
    copy[i] = value;
  }
}

Complex ft_sum(const FtShare& share, std::span<const Complex> planes) {
  constexpr int samples = 1024;
  Complex sum = 0;
  for (int j = 1; j <= samples; ++j) {
    const int z = (5 * j % share.nz) - (share.rank * share.planes);
    if (z >= 0 && z < share.planes) {
      sum += planes[(((std::size_t{1} * z * share.ny) + (3 * j % share.ny)) * share.nx) + (j % share.nx)];
    }
  }
  return sum / (1.0 * share.nx * share.ny * share.nz);
}

void ft_pack(const FtShare& share, int chunk, std::span<const Complex> planes, std::span<Complex> message) {
  for_each_run(share, chunk, [&](std::size_t to, std::size_t from, std::size_t run) {
    std::ranges::copy(planes.subspan(from, run), message.subspan(to, run).begin());
  });
}

void ft_unpack(const FtShare& share, int chunk, std::span<const Complex> message, std::span<Complex> planes) {
  for_each_run(share, chunk, [&](std::size_t from, std::size_t to, std::size_t run) {
    std::ranges::copy(message.subspan(from, run), planes.subspan(to, run).begin());
  });
}

FtTransforms::FtTransforms(const FtShare& share, bool forward, std::span<Complex> planes, std::span<Complex> columns)
    : share_(share),
      x_(kind(forward), {.length = share.nx, .count = share.rows, .stride = 1, .distance = share.nx}, planes.data()),
      y_(kind(forward), {.length = share.ny, .count = share.nx, .stride = share.nx, .distance = 1}, planes.data()),
      z_(kind(forward), {.length = share.nz, .count = share.nx, .stride = share.rows * share.nx, .distance = 1},
         columns.data()) {}

void FtTransforms::along_x(int chunk, std::span<Complex> planes) const {
  for_each_run(share_, chunk,
               [&](std::size_t /*message*/, std::size_t first, std::size_t /*run*/) { x_(planes.data() + first); });
}

void FtTransforms::along_y(std::span<Complex> planes) const {
  const std::size_t plane = std::size_t{1} * share_.nx * share_.ny;
  for (std::size_t first = 0; first < planes.size(); first += plane) {
    y_(planes.data() + first);
  }
}

void FtTransforms::along_z(int chunk, std::span<Complex> columns) const {
  for (int row = 0; row < share_.rows; ++row) {
    z_(columns.data() + (chunk * share_.chunk()) + (std::size_t{1} * row * share_.nx));
  }
}

}  // namespace workloads::npb
