// The semantic gap.
#include <algorithm>
#include <limits>
#include <optional>

#include "oracle/exact/answer.hpp"
#include "oracle/exact/trajectory.hpp"
#include "oracle/real/functions.hpp"
#include "oracle/real/real.hpp"
#include "oracle/recipe/recipe_rules.hpp"

namespace tally::oracle {
namespace {

constexpr unsigned double_digits = std::numeric_limits<double>::max_digits10;
constexpr unsigned gap_guard_digits = 20, smallest_step = 100;
constexpr int gap_doublings = 6;

/// The second lies at least 100 digits above the first, so that a summand lost beside another up to 10^100 times as
/// large shows as a disagreement.
std::vector<unsigned> precisions_in_digits() {
  std::vector<unsigned> all{double_digits + gap_guard_digits};
  for (int i = 0; i <= gap_doublings; ++i) all.push_back(std::max(2 * all.back(), all.back() + smallest_step));
  return all;
}

/// Accumulated minus full batch, and the full batch, of one quantity in one window.
struct Difference {
  Tensors<Real> change, full;
};

struct WindowDifference {
  Difference gradient, parameter;
};

Tensors<Real> minus(const Tensors<Real>& a, const Tensors<Real>& b) {
  Tensors<Real> result;
  for (const auto& [name, tensor] : a) result.emplace(name, tensor - b.at(name));
  return result;
}

Real norm_of_all(const Tensors<Real>& tensors) { return gradient_norm(Choice{"none", {}}, tensors); }

Tensors<Real> parameters(const State<Real>& state) {
  Tensors<Real> result;
  for (const auto& [name, slot] : state.slots) result.emplace(name, slot.parameter);
  return result;
}

Difference difference(const Tensors<Real>& accumulated, Tensors<Real> full) {
  return {minus(accumulated, full), std::move(full)};
}

std::vector<WindowDifference> evaluate(const Case& c, unsigned digits) {
  set_digits(digits);
  const auto full = trajectory<Real>(c, Branch::full_batch);
  const auto accumulated = trajectory<Real>(c, Branch::accumulated);
  std::vector<WindowDifference> result;
  for (std::size_t w = 0; w < full.size(); ++w)
    result.push_back({difference(accumulated[w].grad, full[w].grad),
                      difference(parameters(accumulated[w].after), parameters(full[w].after))});
  return result;
}

Tensors<Real> running(const State<Real>& state) {
  Tensors<Real> result;
  for (const auto& [name, mean] : state.running_mean) result.emplace(name + ".running_mean", mean);
  for (const auto& [name, var] : state.running_var) result.emplace(name + ".running_var", var);
  return result;
}

/// Parameters and running values.
Tensors<Real> left(const State<Real>& state) {
  Tensors<Real> result = parameters(state);
  result.merge(running(state));
  return result;
}

/// A gradient that is 0 by definition, as a bias before a batch_norm has, comes as what the working precision leaves of
/// it: whoever steps by its sign steps by chance.
std::vector<WindowDifference> evaluate(const Case& c, const Case& other, unsigned digits) {
  set_digits(digits);
  const auto one = trajectory<Real>(c, Branch::accumulated), second = trajectory<Real>(other, Branch::accumulated);
  std::vector<WindowDifference> result;
  if (rules_of(c.recipe.optimizer).steps_by_sign())
    return {{difference(one[0].grad, second[0].grad), difference(running(one[0].after), running(second[0].after))}};
  for (std::size_t w = 0; w < one.size(); ++w)
    result.push_back({difference(one[w].grad, second[w].grad), difference(left(one[w].after), left(second[w].after))});
  return result;
}

/// nullopt while neither zero nor the size is certain.
std::optional<double> relative_gap(const Difference& coarse, const Difference& fine) {
  const Real size = norm_of_all(fine.change), uncertainty = norm_of_all(minus(fine.change, coarse.change)),
             full = norm_of_all(fine.full);
  if (size <= uncertainty) return 0.0;
  if (!(power(Real(10), double_digits) * uncertainty <= size)) return std::nullopt;
  if (full == 0) return std::numeric_limits<double>::infinity();
  return static_cast<double>(Real(size / full));
}

std::optional<std::vector<WindowGap>> certified(const std::vector<WindowDifference>& coarse,
                                                const std::vector<WindowDifference>& fine) {
  std::vector<WindowGap> gaps;
  for (std::size_t w = 0; w < fine.size(); ++w) {
    const auto gradient = relative_gap(coarse[w].gradient, fine[w].gradient);
    const auto parameter = relative_gap(coarse[w].parameter, fine[w].parameter);
    if (!gradient || !parameter) return std::nullopt;
    gaps.push_back({*gradient, *parameter});
  }
  return gaps;
}

/// `gaps(coarse, fine)` of what `evaluate` gives at rising precisions, until it has a value.
template <class Evaluate, class Gaps>
auto certified_at_some(Evaluate evaluate_with, Gaps gaps) {
  const std::vector<unsigned> all = precisions_in_digits();
  const DigitsScope scope(all[0]);
  auto coarse = evaluate_with(all[0]);
  for (std::size_t i = 1; i < all.size(); ++i) {
    auto fine = evaluate_with(all[i]);
    if (auto found = gaps(coarse, fine)) return *found;
    coarse = std::move(fine);
  }
  throw NotCertified("semantic gap: two precisions still disagree at " + std::to_string(all.back()) + " digits");
}

auto of_branches(const Case& c) {
  return [&c](unsigned digits) { return evaluate(c, digits); };
}

}  // namespace

std::vector<WindowGap> semantic_gap(const Case& c) { return certified_at_some(of_branches(c), certified); }

std::vector<WindowGap> gap_between(const Case& c, const Case& other) {
  return certified_at_some([&](unsigned digits) { return evaluate(c, other, digits); }, certified);
}

double first_gradient_gap(const Case& c) {
  return certified_at_some(of_branches(c), [](const auto& coarse, const auto& fine) {
    return relative_gap(coarse.front().gradient, fine.front().gradient);
  });
}

}  // namespace tally::oracle
