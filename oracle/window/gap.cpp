#include "oracle/window/gap.hpp"

#include <limits>

#include "oracle/real/functions.hpp"
#include "oracle/window/certificate.hpp"
#include "oracle/window/trajectory.hpp"

namespace tally::oracle {
namespace {

constexpr unsigned double_digits = std::numeric_limits<double>::max_digits10;
constexpr unsigned resolution_digits = 100;  // a gap that far below its numbers is taken for none

/// Accumulated minus full batch, and the full batch, of one quantity in one window.
struct Difference {
  Tensors<Ball> change, full;
};

Tensors<Ball> minus(const Tensors<Ball>& a, const Tensors<Ball>& b) {
  Tensors<Ball> result;
  for (const auto& [name, tensor] : a) result.emplace(name, tensor - b.at(name));
  return result;
}

Ball norm(const Tensors<Ball>& tensors) { return gradient_norm(Choice{"none", {}}, tensors); }

Tensors<Ball> parameters(const State<Ball>& state) {
  Tensors<Ball> result;
  for (const auto& [name, slot] : state.slots) result.emplace(name, slot.parameter);
  return result;
}

Difference difference(const Tensors<Ball>& accumulated, Tensors<Ball> full) {
  return {minus(accumulated, full), std::move(full)};
}

/// Nothing tells it from zero.
bool may_be_zero(const Tensors<Ball>& tensors) {
  for (const auto& [name, tensor] : tensors)
    for (Eigen::Index i = 0; i < tensor.size(); ++i)
      if (!tally::oracle::may_be_zero(tensor(i))) return false;
  return true;
}

double relative_gap(const Difference& difference) {
  if (may_be_zero(difference.change)) return 0;
  const Ball size = norm(difference.change), full = norm(difference.full);
  if (full == 0) return std::numeric_limits<double>::infinity();
  const Ball relative = size / full;
  const Nearest held = nearest(relative);
  if (!negligible(Ball(held.off), relative, double_digits)) throw Undecided("semantic gap: " + shown(relative));
  return static_cast<double>(held.value);
}

std::vector<WindowGap> evaluate(const Case& c) {
  const auto full = trajectory<Ball>(c, Branch::full_batch);
  const auto accumulated = trajectory<Ball>(c, Branch::accumulated);
  std::vector<WindowGap> result;
  for (std::size_t w = 0; w < full.size(); ++w)
    result.push_back({relative_gap(difference(accumulated[w].grad, full[w].grad)),
                      relative_gap(difference(parameters(accumulated[w].after), parameters(full[w].after)))});
  return result;
}

}  // namespace

std::vector<WindowGap> semantic_gap(const Case& c) {
  std::vector<WindowGap> gaps;
  evaluate_until_decided(precisions(resolution_digits), [&] { gaps = evaluate(c); });
  return gaps;
}

}  // namespace tally::oracle
