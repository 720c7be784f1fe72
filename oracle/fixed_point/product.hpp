// Products of matrices in fixed point (oracle/fixed.md), and of balls of fixed size by them. Defined in product.cpp,
// short_product.cpp.
#pragma once

#include <type_traits>

#include "oracle/fixed_point/matrix.hpp"
#include "oracle/real/short_ball.hpp"
#include "oracle/real/threads.hpp"

namespace tally::oracle::fixed {

// Products of matrices in fixed point, by three routes that give the same bits (oracle/fixed.md).

/// How a product is computed; its bits do not depend on it.
enum class Route {
  exact,  // whole numbers of 128 bits (oracle/fixed_point/product.cpp)
  ifma,   // AVX-512 IFMA (oracle/fixed_point/ifma.cpp)
  blas,   // residues on products of doubles, OpenBLAS's where it is there (oracle/fixed_point/residue_product.cpp)
};

/// Whether this processor can.
bool available(Route route);
/// IFMA where there is, else residues.
Route fastest_route();
/// "AVX-512 IFMA", "residues on OpenBLAS", "residues on doubles" or "whole numbers of 128 bits".
std::string name_of(Route route);

/// How the work is cut; no bit depends on it. Numbers below 1 count as 1.
struct Schedule {
  int threads = 1;
  Eigen::Index tile_rows = 256, tile_columns = 256;
  Eigen::Index inner = 256;  // terms between two carries
};

/// left right, [m, p] from left [m, n] scaled by rows and right [n, p] scaled by columns. With the exact sum
/// S = sum over k of A_ik B_kj of the numbers held and d = h + g + ceil(log2 n) (oracle/fixed_point/matrix.hpp),
///   result = floor(S / 2^d + 1/2),
/// scaled by the rows of left and the columns of right times 2^d. Its radius in units of the result is
///   1/2 + n 2^(h - d) (left radius of row i (1 + r 2^-h) + right radius of column j),   r the largest right radius,
/// rounded upward; the 1/2 is in the rows. Throws std::logic_error where sizes or limbs differ, an operand is scaled on
/// the wrong side or the route is not available, and std::length_error above 2^20 terms.
FixedMatrix product(const FixedMatrix& left, const FixedMatrix& right, Route route = fastest_route(),
                    const Schedule& schedule = {});

// How the products of balls of fixed size (oracle/real/product.hpp) are computed in a thread.

/// The route and the cut of products in this thread until the block ends; no bit of theirs depends on it.
class ProductsScope {
 public:
  ProductsScope(Route route, const Schedule& schedule);
  ~ProductsScope();
  ProductsScope(const ProductsScope&) = delete;
  ProductsScope& operator=(const ProductsScope&) = delete;

 private:
  Route route_before_;
  Schedule schedule_before_;
};

/// The threads of products in this thread.
int threads_of_products();

}  // namespace tally::oracle::fixed

// Work on the rows of a matrix, one like the other, by the threads that its scalar has.
namespace tally::oracle {

/// f(first, end) over all rows: for balls of fixed size in parts, one a thread of the products (oracle/fixed_point/
/// product.hpp), else in one.
template <class T, class F>
void over_rows(Eigen::Index rows, F&& f) {
  if constexpr (std::is_same_v<T, ShortBall>)
    fixed::in_parts(rows, fixed::threads_of_products(), f);
  else
    f(Eigen::Index{0}, rows);
}

}  // namespace tally::oracle
