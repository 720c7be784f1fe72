// The three routes of a product in fixed point and what they share. Defined in product.cpp, ifma.cpp,
// residue_product.cpp.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <memory>

#include "oracle/fixed_point/matrix.hpp"

namespace tally::oracle::fixed {

// What the three routes share: the operands, and a tile of the result as the unit of work.

struct Operands {
  const FixedMatrix& left;   // [m, n], scaled by rows
  const FixedMatrix& right;  // [n, p], scaled by columns
  FixedMatrix& result;       // [m, p]
  Eigen::Index terms() const { return left.columns; }
};

/// Rows first_row .. first_row + rows - 1 and columns likewise.
struct Tile {
  Eigen::Index first_row, rows, first_column, columns;
};

/// Writes one tile of the result; for several threads at once.
using TileWork = std::function<void(const Tile&)>;

// Room that a thread keeps from product to product: fresh pages would cost as much as the work in them.

template <class T>
class Room {
 public:
  /// At least `count` numbers, of any value.
  T* of(std::int64_t count) {
    if (count > size_) numbers_ = std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(count));
    if (count > size_) size_ = count;
    return numbers_.get();
  }

 private:
  std::unique_ptr<T[]> numbers_;
  std::int64_t size_ = 0;
};

// The portable route: every element from its exact sum, in whole numbers of 128 bits. It is also where the other routes
// send the elements that their own sums leave open.

/// Element (i, j) of the result: floor((S + 2^(d - 1)) / 2^d), S the exact sum and d the bits that are dropped.
void exact_element(const Operands& operands, Eigen::Index i, Eigen::Index j);

/// Keeps references: the operands must live on.
TileWork exact_route(const Operands& operands);

// The route over AVX-512 IFMA: 52 x 52 bits a lane, the high or the low half of the product added to a 64-bit sum.

/// The processor has AVX-512 F and IFMA, and this program was compiled for a processor that may.
bool has_ifma();

/// Sums are carried after `inner` terms, at most 256; `threads` share what is done before the tiles. Keeps references:
/// the operands must live on. Only where has_ifma().
TileWork ifma_route(const Operands& operands, Eigen::Index inner, int threads);

// Products of residues modulo many small numbers, each exact in double (Chinese remainders): by OpenBLAS, or where there
// is none by routes.hpp, with the same bits.

/// `inner` terms of residues are multiplied at once. Keeps references: the operands must live on.
TileWork residue_route(const Operands& operands, Eigen::Index inner);

// OpenBLAS, loaded when it is first asked for: a program that starts takes no time for it.

struct Blas {
  /// cblas_dgemm: c = alpha op(a) op(b) + beta c.
  void (*multiply)(int order, int of_a, int of_b, int rows, int columns, int terms, double alpha, const double* a,
                   int stride_a, const double* b, int stride_b, double beta, double* c, int stride_c);
  void (*set_threads)(int count);

  static constexpr int row_major = 101, as_it_is = 111;  // words of the CBLAS standard
};

/// nullptr where there is none.
const Blas* blas();

// Products of matrices of whole doubles, for where there is no OpenBLAS: every sum stays below 2^53, so that no operation
// rounds and the bits are those of any order.

struct ProductSizes {
  Eigen::Index rows, terms, columns;
};

/// c [rows, columns] = a [rows, terms] b [terms, columns], all of them by rows; added to what c holds if `more`.
void multiply_wholes(double* c, const double* a, const double* b, const ProductSizes& sizes, bool more);

}  // namespace tally::oracle::fixed
