// What stages read that no tap has whole: targets, item weights, a factor that a subject never makes, rows of a tensor,
// sums over a whole model.
#include "properties/judge/loss_inputs.hpp"

#include <algorithm>
#include <cmath>

#include "oracle/case/contract.hpp"
#include "oracle/case/rows.hpp"
#include "oracle/exact/exact.hpp"
#include "oracle/tolerance/rule.hpp"
#include "properties/judge/pieces.hpp"

namespace tally {

bool are_targets_of(const Choice& loss, const std::vector<double>& targets, std::size_t classes) {
  if (!has_class_targets(loss)) return true;
  const auto ignored = static_cast<double>(loss.integer("ignore_index"));
  return std::ranges::all_of(targets, [&](double target) {
    return target == ignored || (target >= 0 && target < static_cast<double>(classes));
  });
}

bool are_targets_of(const Choice& loss, const Tensor& targets, std::size_t classes) {
  std::vector<double> values(targets.elements());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = targets.value(i);
  return are_targets_of(loss, values, classes);
}

oracle::Expected folded(oracle::Expected factor) {
  constexpr int roundings = 4;  // two of c as predicted, two of the constants that take its place
  const double size = std::fabs(static_cast<double>(factor.v(0, 0)));
  factor.e(0, 0) += size * oracle::gam(roundings, oracle::format_of(Dtype::fp32).unit_roundoff() * oracle::pays);
  return factor;
}

oracle::Expected of_folded(oracle::Expected dy, const oracle::Expected& factor, std::int64_t rows) {
  const double rest = std::fabs(static_cast<double>(factor.v(0, 0))) + factor.e(0, 0);
  dy.e.array() += oracle::format_of(Dtype::fp32).underflow() * rest * static_cast<double>(rows) * oracle::inflation;
  return dy;
}

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

WholeModel whole_model_of(const std::vector<SquaresOfWindow>& sums) {
  WholeModel whole;
  for (const SquaresOfWindow& each : sums) {
    const bool finite = std::isfinite(each.sum);
    const BuffersOfAll all{finite ? OverflowFound::none : OverflowFound::certain,
                           oracle::terms_of_squares(each.elements, each.sum)};
    whole.windows[each.window] = {all, all, std::nullopt, std::nullopt, !finite};
  }
  return whole;
}

const WholeWindow* whole_window(const Trace& trace, int window) {
  if (trace.whole_model == nullptr) return trace.whole == nullptr ? nullptr : whole_window(*trace.whole, window);
  const auto found = trace.whole_model->windows.find(window);
  return found == trace.whole_model->windows.end() ? nullptr : &found->second;
}

}  // namespace tally
