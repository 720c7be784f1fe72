// The norm over all parameters, (clip.1), the clip coefficient, and clipping.
#include <functional>

#include "oracle/recipe/recipe_rules.hpp"
#include "oracle/tolerance/rule.hpp"
#include "oracle/window/each_stretch.hpp"

namespace tally::oracle {
namespace {

double flushed_by_an_atomic() { return sources().accumulation * 0x1p-125; }

using Term = std::function<double(double size)>;  // of the sum, by an element's magnitude
using AdditionsOf = std::function<double(const KernelClaim& claim, const Term& term)>;

/// What the additions of all terms cost, relative to what they add up to: by the order that is claimed, for these
/// sizes.
double relative_growth(const KernelClaim& claim, const ExpectedTensors& gradients, const Term& term) {
  std::vector<std::vector<double>> tensors;
  std::vector<double> counts;
  double all = 0;
  for (const auto& [name, g] : gradients) {
    auto& sizes = tensors.emplace_back();
    counts.push_back(
        static_cast<double>(g.only_read != nullptr ? static_cast<Eigen::Index>(g.only_read->elements()) : g.v.size()));
    if (claim.additions.empty()) continue;
    each_stretch(g, [&](const Expected& next) {
      for (Eigen::Index i = 0; i < next.v.size(); ++i) {
        sizes.push_back(term(std::fabs(static_cast<double>(next.v.data()[i])) + incoming(next.e.data()[i])));
        all += sizes.back();
      }
    });
  }
  const double u = single().u(), deepest = gam(height_of(claim, counts), u);
  const bool in_chunks = !claim.additions.empty() && claim.additions.front().kind == SumStep::chunks;
  if (!in_chunks || !(all > 0 && all < infinite)) return deepest;
  return std::min(deepest, cost_of(claim.additions, u, tensors).growth / all * inflation);
}

/// sqrt of a sum of squares: the inputs move it by at most |e|_2; the additions by `growth` relatively, each square's
/// rounding by u more, and what underflows; the root rounds once.
double two_norm_error(const NormTerms& all, double value, double additions, bool atomics) {
  const Arithmetic fp32 = single();
  const double growth = additions + fp32.u() * (1 + additions), moved = std::sqrt(all.squares_e);
  const double lost = all.count() * (fp32.underflow() + (atomics ? flushed_by_an_atomic() : 0));
  if (!(all.squares * (1 + growth) + lost < fp32.threshold())) return infinite;
  const double relative = growth < 1 ? 1 - std::sqrt(1 - growth) : 1;
  const double before_root = moved + relative * (value + moved) + std::sqrt(lost);
  return (before_root + fp32.u() * (value + before_root)) * inflation;
}

Expected norm(const Declared& declared, const Choice& clip, const NormTerms& terms, const AdditionsOf& growth_of) {
  const NormOrder order = norm_of(clip);
  const long double exact = order == NormOrder::two ? std::sqrt(terms.power_sum) : terms.power_sum;
  if (!terms.finite) return scalar(exact, terms.largest_e < infinite ? 0 : infinite);
  if (order == NormOrder::largest) return scalar(exact, terms.largest_e);
  const KernelClaim& claim = claim_of(declared, "norm");
  if (order == NormOrder::one) {
    const double growth = growth_of(claim, [](double size) { return size; });
    const bool overflows = !(terms.sum * (1 + growth) < single().threshold());
    const double lost = claim.global_float_atomics ? terms.count() * flushed_by_an_atomic() : 0;
    return scalar(exact, overflows ? infinite : (terms.sum_e + growth * terms.sum + lost) * inflation);
  }
  const double growth = growth_of(claim, [](double size) { return size * size; });
  return scalar(exact, two_norm_error(terms, static_cast<double>(exact), growth, claim.global_float_atomics));
}

}  // namespace

Expected norm(const Declared& declared, const Choice& clip, const ExpectedTensors& gradients) {
  NormTerms terms;
  for (const auto& [name, gradient] : gradients) terms.add(clip, gradient);
  return norm(declared, clip, terms,
              [&](const KernelClaim& claim, const Term& term) { return relative_growth(claim, gradients, term); });
}

namespace {

/// The sum before its root. The inputs move it by at most sum (|v| + e)^2 - v^2, sums of `count` binary64 numbers each.
double squares_error(const NormTerms& all, double additions, bool atomics) {
  const Arithmetic fp32 = single();
  const double growth = additions + fp32.u() * (1 + additions);
  const double lost = all.count() * (fp32.underflow() + (atomics ? flushed_by_an_atomic() : 0));
  if (!(all.squares * (1 + growth) + lost < fp32.threshold())) return infinite;
  const double moved = all.squares_e > 0 ? all.squares - static_cast<double>(all.power_sum) : 0;
  const double summed_in_binary64 = all.squares_e > 0 ? 2 * all.count() * 0x1p-53 * all.squares : 0;
  return (std::max(moved, 0.0) + summed_in_binary64 + growth * all.squares + lost) * inflation;
}

}  // namespace

Expected squares_of(const Declared& declared, const ExpectedTensors& gradients) {
  const Choice two{"global_norm", {{"norm", std::string("2")}}};
  NormTerms terms;
  for (const auto& [name, gradient] : gradients) terms.add(two, gradient);
  if (!terms.finite) return scalar(terms.power_sum, terms.largest_e < infinite ? 0 : infinite);
  const KernelClaim& claim = claim_of(declared, "norm");
  const double growth = relative_growth(claim, gradients, [](double size) { return size * size; });
  return scalar(terms.power_sum, squares_error(terms, growth, claim.global_float_atomics));
}

Expected norm(const Declared& declared, const Choice& clip, const NormTerms& terms) {
  return norm(declared, clip, terms,
              [&](const KernelClaim& claim, const Term&) { return gam(height_of(claim, terms.counts), single().u()); });
}

Expected coefficient(const Choice& clip, const Expected& norm) { return clip_rules(clip).coefficient(clip, norm); }

Expected clipped(const Choice& clip, const Expected& coefficient, const Expected& gradient) {
  return clip_rules(clip).clipped(clip, coefficient, gradient);
}

Matrix<float> rounded_clip(const Choice& clip, float coefficient, const FloatsRef& gradient) {
  return clip_rules(clip).rounded(clip, coefficient, gradient);
}

}  // namespace tally::oracle
