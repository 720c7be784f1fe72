// Products of matrices of whole doubles, for where there is no OpenBLAS: every sum stays below 2^53, so that no operation
// rounds and the bits are those of any order.
#pragma once

#include <Eigen/Core>

namespace tally::oracle::fixed {

struct ProductSizes {
  Eigen::Index rows, terms, columns;
};

/// c [rows, columns] = a [rows, terms] b [terms, columns], all of them by rows; added to what c holds if `more`.
void multiply_wholes(double* c, const double* a, const double* b, const ProductSizes& sizes, bool more);

}  // namespace tally::oracle::fixed
