// OpenBLAS, loaded when it is first asked for: a program that starts takes no time for it.
#pragma once

namespace tally::oracle::fixed {

struct Blas {
  /// cblas_dgemm: c = alpha op(a) op(b) + beta c.
  void (*multiply)(int order, int of_a, int of_b, int rows, int columns, int terms, double alpha, const double* a,
                   int stride_a, const double* b, int stride_b, double beta, double* c, int stride_c);
  void (*set_threads)(int count);

  static constexpr int row_major = 101, as_it_is = 111;  // words of the CBLAS standard
};

/// nullptr where there is none.
const Blas* blas();

}  // namespace tally::oracle::fixed
