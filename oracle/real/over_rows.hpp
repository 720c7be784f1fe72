// Work on the rows of a matrix, one like the other, by the threads that its scalar has.
#pragma once

#include <type_traits>

#include "oracle/fixed/in_parts.hpp"
#include "oracle/fixed/short_product.hpp"
#include "oracle/real/short_ball.hpp"

namespace tally::oracle {

/// f(first, end) over all rows: for balls of fixed size in parts, one a thread of the products (oracle/fixed/
/// short_product.hpp), else in one.
template <class T, class F>
void over_rows(Eigen::Index rows, F&& f) {
  if constexpr (std::is_same_v<T, ShortBall>)
    fixed::in_parts(rows, fixed::threads_of_products(), f);
  else
    f(Eigen::Index{0}, rows);
}

}  // namespace tally::oracle
