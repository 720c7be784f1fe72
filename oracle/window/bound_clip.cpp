// The norm over all parameters, (clip.1), the clip coefficient, and clipping.
#include "oracle/recipe/recipe_rules.hpp"
#include "oracle/tolerance/rule.hpp"

namespace tally::oracle {
namespace {

double flushed_by_an_atomic() { return sources().accumulation * 0x1p-125; }

struct Census {
  double largest_e = 0, sum_e = 0, squares_e = 0, sum = 0, squares = 0, count = 0;
  bool finite = true;
};

Census census_of(const ExpectedTensors& gradients) {
  Census all;
  for (const auto& [name, g] : gradients) {
    for (Eigen::Index i = 0; i < g.v.size(); ++i) {
      const double v = static_cast<double>(g.v.data()[i]), e = incoming(g.e.data()[i]);
      all.finite = all.finite && std::isfinite(v);
      all.largest_e = std::max(all.largest_e, e);
      all.sum_e += e;
      all.squares_e += e * e;
      all.sum += std::fabs(v) + e;
      all.squares += (std::fabs(v) + e) * (std::fabs(v) + e);
      all.count += 1;
    }
  }
  return all;
}

/// What the additions of all terms cost, relative to what they add up to: by the order that is claimed, for these
/// sizes.
template <class Term>
double relative_growth(const KernelClaim& claim, const ExpectedTensors& gradients, Term&& term) {
  std::vector<std::vector<double>> tensors;
  std::vector<double> counts;
  double all = 0;
  for (const auto& [name, g] : gradients) {
    auto& sizes = tensors.emplace_back();
    counts.push_back(static_cast<double>(g.v.size()));
    for (Eigen::Index i = 0; i < g.v.size() && !claim.additions.empty(); ++i) {
      sizes.push_back(term(std::fabs(static_cast<double>(g.v.data()[i])) + incoming(g.e.data()[i])));
      all += sizes.back();
    }
  }
  const double u = single().u(), deepest = gam(height_of(claim, counts), u);
  const bool in_chunks = !claim.additions.empty() && claim.additions.front().kind == SumStep::chunks;
  if (!in_chunks || !(all > 0 && all < infinite)) return deepest;
  return std::min(deepest, cost_of(claim.additions, u, tensors).growth / all * inflation);
}

/// sqrt of a sum of squares: the inputs move it by at most |e|_2; the additions by `growth` relatively, each square's
/// rounding by u more, and what underflows; the root rounds once.
double two_norm_error(const Census& all, double value, double additions, bool atomics) {
  const Arithmetic fp32 = single();
  const double growth = additions + fp32.u() * (1 + additions), moved = std::sqrt(all.squares_e);
  const double lost = all.count * (fp32.underflow() + (atomics ? flushed_by_an_atomic() : 0));
  if (!(all.squares * (1 + growth) + lost < fp32.threshold())) return infinite;
  const double relative = growth < 1 ? 1 - std::sqrt(1 - growth) : 1;
  const double before_root = moved + relative * (value + moved) + std::sqrt(lost);
  return (before_root + fp32.u() * (value + before_root)) * inflation;
}

}  // namespace

Expected norm(const Declared& declared, const Choice& clip, const ExpectedTensors& gradients) {
  const Census all = census_of(gradients);
  Tensors<long double> values;
  for (const auto& [name, g] : gradients) values.emplace(name, g.v);
  const auto exact = gradient_norm<long double>(clip, values);
  if (!all.finite) return scalar(exact, all.largest_e < infinite ? 0 : infinite);
  const KernelClaim& claim = claim_of(declared, "norm");
  const NormOrder order = norm_of(clip);
  if (order == NormOrder::largest) return scalar(exact, all.largest_e);
  if (order == NormOrder::one) {
    const double growth = relative_growth(claim, gradients, [](double size) { return size; });
    const bool overflows = !(all.sum * (1 + growth) < single().threshold());
    const double lost = claim.global_float_atomics ? all.count * flushed_by_an_atomic() : 0;
    return scalar(exact, overflows ? infinite : (all.sum_e + growth * all.sum + lost) * inflation);
  }
  const double growth = relative_growth(claim, gradients, [](double size) { return size * size; });
  return scalar(exact, two_norm_error(all, static_cast<double>(exact), growth, claim.global_float_atomics));
}

Expected coefficient(const Choice& clip, const Expected& norm) { return clip_rules(clip).coefficient(clip, norm); }

Expected clipped(const Choice& clip, const Expected& coefficient, const Expected& gradient) {
  return clip_rules(clip).clipped(clip, coefficient, gradient);
}

Expected rounded_clip(const Choice& clip, float coefficient, const Matrix<float>& gradient) {
  return clip_rules(clip).rounded(clip, coefficient, gradient);
}

}  // namespace tally::oracle
