#include "properties/studies/language_models/element_counts.hpp"

#include <cmath>

#include "properties/compare/tensor_verdict.hpp"

namespace tally {
namespace {

void count(const HeldElement& x, double last_rounding, const CountedTensor& from, Stratum& stratum, Stratum& excess) {
  ++stratum.checks;
  stratum.vacuous += x.e > 0 && x.v != 0 && !(x.e < std::fabs(x.v));
  if (!std::isfinite(x.e)) return;
  const double r = x.error == 0 ? 0 : x.error / x.e;
  ++stratum.judged;
  stratum.alarms += x.error > x.e;
  r > 0 ? stratum.ratios.add(r) : stratum.ratios.add_to(0, 1);
  stratum.see_worst(r, from.number, from.tap);
  excess.see_worst(excess_of(x, last_rounding, r), from.number, from.tap);
}

}  // namespace

Labels excess_labels(Labels labels) {
  labels.front() = "excess of " + labels.front();
  return labels;
}

void count_elements(Strata& strata, const Labels& labels, const CountedTensor& tensor) {
  const LastRounding last(tensor.got.dtype);
  const std::size_t rows = tensor.parts.empty() ? 1 : tensor.parts.size(), columns = tensor.got.elements() / rows;
  for (std::size_t row = 0; row < rows; ++row) {
    Labels own = labels;
    own.push_back(tensor.parts.empty() ? "all" : tensor.parts[row]);
    Stratum &stratum = strata.at(own), &excess = strata.at(excess_labels(own));
    for (std::size_t i = row * columns; i < (row + 1) * columns; ++i) {
      const long double v = tensor.expected.v.data()[i], got = tensor.got.value(i);
      const HeldElement x{static_cast<double>(v), tensor.expected.e.data()[i], static_cast<double>(got),
                          static_cast<double>(std::fabs(got - v)), 0};
      if (!std::isfinite(x.error) || std::isnan(x.e) || (x.e == 0 && x.error == 0)) continue;
      count(x, last.at(x.v, x.got), tensor, stratum, excess);
    }
  }
}

}  // namespace tally
