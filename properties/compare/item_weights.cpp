#include "properties/compare/item_weights.hpp"

#include "oracle/window/exact_stages.hpp"

namespace tally {

oracle::Matrix<long double> item_weights(const Case& c, std::int64_t first_row, std::int64_t rows) {
  oracle::Matrix<long double> weights(1, rows);
  for (std::int64_t i = 0; i < rows; ++i) weights(0, i) = oracle::number<long double>(item_weight(c, first_row + i));
  return weights;
}

}  // namespace tally
