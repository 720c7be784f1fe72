#include "properties/compare/item_weights.hpp"

#include "oracle/case/item_weights.hpp"
#include "oracle/window/exact_stages.hpp"

namespace tally {

oracle::Matrix<long double> item_weights(const Case& c, std::int64_t first_row, std::int64_t rows) {
  oracle::Matrix<long double> weights(1, rows);
  const ItemWeights read(c);
  for (std::int64_t i = 0; i < rows; ++i) {
    const auto whole = read.whole(first_row + i);
    weights(0, i) =
        whole ? static_cast<long double>(*whole) : oracle::number<long double>(item_weight(c, first_row + i));
  }
  return weights;
}

}  // namespace tally
