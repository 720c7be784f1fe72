// The norm over all parameters, the clip coefficient, and clipping.
#include "oracle/tolerance/constants.hpp"
#include "oracle/tolerance/each.hpp"
#include "oracle/window/bound_stages.hpp"

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

std::string kind_of_norm(const Choice& clip) {
  const auto found = clip.options.find("norm");
  if (found == clip.options.end()) return "2";
  if (const auto* text = std::get_if<std::string>(&found->second)) return *text;
  if (const auto* whole = std::get_if<std::int64_t>(&found->second)) return std::to_string(*whole);
  return std::get<Decimal>(found->second).text;
}

}  // namespace

Expected norm(const Declared& subject, const Choice& clip, const ExpectedTensors& gradients) {
  const Census all = census_of(gradients);
  Tensors<long double> values;
  for (const auto& [name, g] : gradients) values.emplace(name, g.v);
  const auto exact = gradient_norm<long double>(clip, values);
  if (!all.finite) return scalar(exact, all.largest_e < infinite ? 0 : infinite);
  const KernelClaim& claim = claim_of(subject, "norm");
  const std::string kind = kind_of_norm(clip);
  if (kind == "inf") return scalar(exact, all.largest_e);
  if (kind == "1") {
    const double growth = relative_growth(claim, gradients, [](double size) { return size; });
    const bool overflows = !(all.sum * (1 + growth) < single().threshold());
    const double lost = claim.global_float_atomics ? all.count * flushed_by_an_atomic() : 0;
    return scalar(exact, overflows ? infinite : (all.sum_e + growth * all.sum + lost) * inflation);
  }
  const double growth = relative_growth(claim, gradients, [](double size) { return size * size; });
  return scalar(exact, two_norm_error(all, static_cast<double>(exact), growth, claim.global_float_atomics));
}

Expected coefficient(const Choice& clip, const Expected& norm) {
  const Arithmetic fp32 = single();
  const Bounded n = bounded_scalar(norm);
  const Bounded most = constant(clip.number("max_norm")), epsilon = constant(clip.number("epsilon"));
  if (std::isnan(n.v)) return scalar(NAN, n.e);
  if (std::isinf(n.v) && decided(n)) return scalar(0, decided(most) ? 0 : infinite);  // infinity over infinity
  if (!decided(n) || !decided(most) || !decided(fp32.add(n, epsilon))) {
    return scalar(clip_coefficient<long double>(clip, norm.v(0, 0)), infinite);
  }
  // Where the norm may be 0 the quotient has no bound, but the coefficient falls with the norm and lies in [least, 1].
  const double least = most.v / (n.v + n.e + epsilon.v) * (1 - gam(8, fp32.u()));
  if (least >= 1 || (n.v + epsilon.v == 0 && n.e == 0)) return scalar(1);
  const Bounded ratio = fp32.div(most, fp32.add(n, epsilon));
  const auto exact = clip_coefficient<long double>(clip, norm.v(0, 0));
  return scalar(exact, std::min(ratio.e, 1 - least));
}

Expected clipped(const Choice& clip, const Expected& coefficient, const Expected& gradient) {
  if (clip.kind == "global_norm") return scaled(gradient, coefficient);
  const Bounded most = constant(clip.number("max_value"));
  const auto clamp = [&](Bounded g) {
    if (std::isnan(g.v)) return g;
    if (!decided(g)) return Bounded{std::clamp(g.v, -most.v, most.v), infinite};
    if (std::isinf(g.v)) return Bounded{std::copysign(most.v, g.v), most.e};
    const double reach = std::fabs(g.v) + g.e;
    const double v = std::clamp(g.v, -most.v, most.v);
    if (reach < most.v - most.e) return Bounded{v, g.e};
    // The subject's limit is its own constant: both may lie at limits of opposite signs.
    return Bounded{v, std::min(g.e + most.e, 2 * most.v + most.e) * inflation};
  };
  const long double by = coefficient.v.size() == 0 ? 1 : coefficient.v(0, 0);
  return joined([&] { return tally::oracle::clipped<long double>(clip, by, gradient.v); }, each(clamp, gradient));
}

}  // namespace tally::oracle
