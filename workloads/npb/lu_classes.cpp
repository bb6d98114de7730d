// SPDX-License-Identifier: BSD-3-Clause
// The values that verify LU, from the specification of NPB 3.4.
#include <algorithm>
#include <cmath>

#include "npb/lu_kernel.h"

namespace workloads::npb {
namespace {

bool is_near(double value, double right) noexcept {
  constexpr double tolerance = 1e-8;
  return std::abs(value - right) <= tolerance * std::abs(right);
}

}  // namespace

const std::array<LuClass, 6>& lu_classes() noexcept {
  static constexpr std::array<LuClass, 6> table{{
      {"S",
       12,
       50,
       0.5,
       {.residuals = {0.016196343210976703, 0.002197674516482132, 0.0015179927653399185, 0.0015029584435994323,
                      0.03426407315589646},
        .errors = {0.0006422331995796092, 8.414434204734792e-05, 5.8588269616485187e-05, 5.847422259515735e-05,
                   0.0013103347914111294},
        .surface = 7.841892886593708}},
      {"W",
       33,
       300,
       0.0015,
       {.residuals = {12.36511638192, 1.317228477799, 2.550120713095, 2.326187750252, 28.26799444189},
        .errors = {0.4867877144216, 0.05064652880982, 0.0928181810196, 0.08570126542733, 1.084277417792},
        .surface = 11.61399311023}},
      {"A",
       64,
       250,
       2.0,
       {.residuals = {779.0210760668937, 63.40276525969287, 194.9924972729248, 178.45301160418538, 1838.4760349464248},
        .errors = {29.964085685471943, 2.819457636500335, 7.347341269877474, 6.713922568777705, 70.71531568839258},
        .surface = 26.030925604886278}},
      {"B",
       102,
       250,
       2.0,
       {.residuals = {3553.2672969982737, 262.1475079531069, 883.3372185095219, 778.1277473942527, 7308.796959254531},
        .errors = {114.01176380212709, 8.109896365542157, 28.480597317698308, 25.90539456783294, 260.54907504857414},
        .surface = 47.88716270330823}},
      {"C",
       162,
       250,
       2.0,
       {.residuals = {10376.698032353785, 892.2124588010086, 2562.3881458266087, 2191.9434385783143, 17807.80572610612},
        .errors = {215.98639971694928, 15.57895592398636, 54.13188630772078, 48.22626431540454, 455.90291004325036},
        .surface = 66.64045535721813}},
      {"D",
       408,
       300,
       1.0,
       {.residuals = {48684.17937025, 4696.371050071, 12181.14549776, 10338.01493461, 71423.98413817},
        .errors = {375.2393004482, 30.84128893659, 94.34276905469, 82.30686681928, 700.262063621},
        .surface = 83.34101392503}},
  }};
  return table;
}

bool is_right(const LuClass& problem, const LuResult& result) noexcept {
  return std::ranges::equal(result.residuals, problem.right.residuals, is_near) &&
         std::ranges::equal(result.errors, problem.right.errors, is_near) &&
         is_near(result.surface, problem.right.surface);
}

}  // namespace workloads::npb
