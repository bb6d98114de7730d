// SPDX-License-Identifier: BSD-3-Clause
// Himeno's published loop with its coefficients as they are, nothing vectorised by hand, nothing cut: gosa of the last
// of N iterations on a grid of I x J x K points. What the workload's kernel is held against.
#include <stdio.h>
#include <stdlib.h>

static int jmax, kmax;
#define AT(i, j, k) (((size_t)(i) * (size_t)jmax + (size_t)(j)) * (size_t)kmax + (size_t)(k))

static double iterate(const float* p, float* new, int imax) {
  const float a3 = 1.0F / 6.0F, omega = 0.8F;
  double gosa = 0; /* published in single precision, which is not enough for large grids */
  for (int i = 1; i < imax - 1; ++i)
    for (int j = 1; j < jmax - 1; ++j)
      for (int k = 1; k < kmax - 1; ++k) {
        /* a0 = a1 = a2 = c0 = c1 = c2 = bnd = 1, b0 = b1 = b2 = wrk1 = 0 */
        const float s0 = p[AT(i + 1, j, k)] + p[AT(i, j + 1, k)] + p[AT(i, j, k + 1)] + p[AT(i - 1, j, k)] +
                         p[AT(i, j - 1, k)] + p[AT(i, j, k - 1)];
        const float ss = s0 * a3 - p[AT(i, j, k)];
        gosa += (double)ss * ss;
        new[AT(i, j, k)] = p[AT(i, j, k)] + omega * ss;
      }
  return gosa;
}

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const int imax = atoi(argv[1]);
  jmax = atoi(argv[2]);
  kmax = atoi(argv[3]);
  float* p = malloc(sizeof(float) * AT(imax, 0, 0));
  float* new = malloc(sizeof(float) * AT(imax, 0, 0));
  if (!p || !new) return 1;
  for (size_t n = 0; n < AT(imax, 0, 0); ++n) {
    const float i = (float)(n / AT(1, 0, 0));
    p[n] = new[n] = i * i / ((float)(imax - 1) * (float)(imax - 1));
  }
  double gosa = 0;
  for (int n = 0; n < atoi(argv[4]); ++n) {
    gosa = iterate(p, new, imax);
    float* old = p;
    p = new;
    new = old;
  }
  printf("%.9e\n", gosa);
  free(p);
  free(new);
  return 0;
}
