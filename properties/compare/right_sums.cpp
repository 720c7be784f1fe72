#include "properties/compare/right_sums.hpp"

#include <algorithm>

namespace tally {
namespace {

/// Stored as the subject stores it.
Tensor stored_like(const Tensor& got, const oracle::Expected& values) {
  Tensor stored(got.dtype, got.shape);
  for (std::size_t i = 0; i < stored.elements(); ++i) stored.set(i, static_cast<double>(values.v.data()[i]));
  return stored;
}

}  // namespace

Leans leans_of(const Output& output, const oracle::Expected& expected, const Tensor& got,
               const std::vector<Direction>& directions) {
  Leans leans;
  for (const oracle::TriedOrder& order : oracle::tried_orders()) {
    for (const SpreadFinding& found : spread_tests(expected, stored_like(got, output.tried(order)), directions)) {
      leans[found.test] = std::max(leans[found.test], found.deviation);
    }
  }
  return leans;
}

}  // namespace tally
