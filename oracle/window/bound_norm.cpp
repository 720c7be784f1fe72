// The norm over all gradients, the clip coefficient, the rate; and which of them are known bit by bit.
#include <cmath>
#include <functional>
#include <numeric>

#include "oracle/real/functions.hpp"
#include "oracle/recipe/recipe_rules.hpp"
#include "oracle/tolerance/elementwise.hpp"
#include "oracle/tolerance/rule.hpp"
#include "oracle/window/bound_stages.hpp"

namespace tally::oracle {
namespace {

bool is_signed_power_of_two(double x) {
  int exponent = 0;
  return std::fabs(std::frexp(x, &exponent)) == 0.5;
}

double squared(double x) { return x * x; }

}  // namespace

double NormTerms::count() const { return std::accumulate(counts.begin(), counts.end(), 0.0); }

void NormTerms::add(const Declared& declared, const Choice& clip, const Expected& gradient) {
  const NormOrder order = norm_of(clip);
  counts.push_back(0);
  each_stretch(gradient, [&](const Expected& next) {
    counts.back() += static_cast<double>(next.v.size());
    for (Eigen::Index i = 0; i < next.v.size(); ++i) {
      const long double exact = std::fabs(next.v.data()[i]);
      const double v = static_cast<double>(exact), bound = declared.incoming(next.e.data()[i]);
      finite = finite && std::isfinite(v);
      largest_e = std::max(largest_e, bound);
      sum_e += bound;
      squares_e += bound * bound;
      sum += v + bound;
      squares += squared(v + bound);
      if (order == NormOrder::one) power_sum += exact;
      if (order == NormOrder::two) power_sum += exact * exact;
      if (order == NormOrder::largest) power_sum = larger(power_sum, exact);
    }
  });
}

void NormTerms::add(const Choice& clip, const NormTerms& more) {
  const bool largest = norm_of(clip) == NormOrder::largest;
  power_sum = largest ? larger(power_sum, more.power_sum) : power_sum + more.power_sum;
  largest_e = std::max(largest_e, more.largest_e);
  sum_e += more.sum_e;
  squares_e += more.squares_e;
  sum += more.sum;
  squares += more.squares;
  finite = finite && more.finite;
  counts.insert(counts.end(), more.counts.begin(), more.counts.end());
}

NormTerms NormTerms::times(const Declared& declared, const Choice& clip, const Expected& factor) const {
  const Arithmetic fp32 = single(declared);
  const Bounded by = element(declared, factor, 0, 0);
  const double size = (std::fabs(by.v) + by.e) * inflation;
  const bool exact = by.e == 0 && is_signed_power_of_two(by.v);
  const double off = (by.e + (exact ? 0 : fp32.u() * size)) * inflation;  // of each product, relative to |v| + e
  const double lost = size >= 1 && exact ? 0 : fp32.underflow();
  const long double scale = std::fabs(factor.v(0, 0));
  NormTerms all = *this;
  const bool two = norm_of(clip) == NormOrder::two;
  all.power_sum = power_sum * (two ? scale * scale : scale);
  all.largest_e = (size * largest_e + off * (static_cast<double>(power_sum) + largest_e) + lost) * inflation;
  all.sum_e = (size * sum_e + off * sum + count() * lost) * inflation;
  all.squares_e =
      squared((size * std::sqrt(squares_e) + off * std::sqrt(squares) + std::sqrt(count()) * lost) * inflation);
  all.sum = (size + off) * sum + count() * lost;
  all.squares = squared((size + off) * std::sqrt(squares) + std::sqrt(count()) * lost);
  return all;
}

NormTerms terms_of_squares(double count, double sum_of_squares) {
  NormTerms terms;
  terms.counts = {count};
  terms.finite = std::isfinite(sum_of_squares);
  terms.power_sum = sum_of_squares;
  terms.squares = sum_of_squares;
  terms.sum = std::sqrt(count * sum_of_squares) * inflation;  // Cauchy
  // The observer's sum is off by (count) 2^-53 of itself at most: as if the elements were off by half of that together.
  terms.squares_e = squared(count * 0x1p-53 * std::sqrt(sum_of_squares)) * inflation;
  return terms;
}

// The norm over all parameters, (clip.1), the clip coefficient, and clipping.
namespace {

constexpr double flushed_by_an_atomic = 0x1p-125;

using Term = std::function<double(double size)>;  // of the sum, by an element's magnitude
using AdditionsOf = std::function<double(const KernelClaim& claim, const Term& term)>;

/// The rounding of all additions relative to their sum, by the claimed order, for these sizes.
double relative_growth(const Declared& declared, const KernelClaim& claim, const ExpectedTensors& gradients,
                       const Term& term) {
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
        sizes.push_back(term(std::fabs(static_cast<double>(next.v.data()[i])) + declared.incoming(next.e.data()[i])));
        all += sizes.back();
      }
    });
  }
  const double u = single(declared).u(), deepest = gam(height_of(claim, counts), u);
  const bool in_chunks = !claim.additions.empty() && claim.additions.front().kind == SumStep::chunks;
  if (!in_chunks || !(all > 0 && all < infinite)) return deepest;
  return std::min(deepest, cost_of(claim.additions, u, tensors).growth / all * inflation);
}

/// sqrt of a sum of squares: the inputs move it by at most |e|_2; the additions by `growth` relatively, each square's
/// rounding by u more, and what underflows; the root rounds once.
double two_norm_error(const Arithmetic& fp32, const NormTerms& all, double value, double additions, bool atomics) {
  const double growth = additions + fp32.u() * (1 + additions), moved = std::sqrt(all.squares_e);
  const double lost = all.count() * (fp32.underflow() + (atomics ? fp32.accumulated(flushed_by_an_atomic) : 0));
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
  const Arithmetic fp32 = single(declared);
  if (order == NormOrder::one) {
    const double growth = growth_of(claim, [](double size) { return size; });
    const bool overflows = !(terms.sum * (1 + growth) < fp32.threshold());
    const double lost = claim.global_float_atomics ? terms.count() * fp32.accumulated(flushed_by_an_atomic) : 0;
    return scalar(exact, overflows ? infinite : (terms.sum_e + growth * terms.sum + lost) * inflation);
  }
  const double growth = growth_of(claim, [](double size) { return size * size; });
  return scalar(exact, two_norm_error(fp32, terms, static_cast<double>(exact), growth, claim.global_float_atomics));
}

}  // namespace

Expected norm(const Declared& declared, const Choice& clip, const ExpectedTensors& gradients) {
  NormTerms terms;
  for (const auto& [name, gradient] : gradients) terms.add(declared, clip, gradient);
  return norm(declared, clip, terms, [&](const KernelClaim& claim, const Term& term) {
    return relative_growth(declared, claim, gradients, term);
  });
}

namespace {

/// The sum before its root. The inputs move it by at most sum (|v| + e)^2 - v^2, sums of `count` binary64 numbers each.
double squares_error(const Arithmetic& fp32, const NormTerms& all, double additions, bool atomics) {
  const double growth = additions + fp32.u() * (1 + additions);
  const double lost = all.count() * (fp32.underflow() + (atomics ? fp32.accumulated(flushed_by_an_atomic) : 0));
  if (!(all.squares * (1 + growth) + lost < fp32.threshold())) return infinite;
  const double moved = all.squares_e > 0 ? all.squares - static_cast<double>(all.power_sum) : 0;
  const double summed_in_binary64 = all.squares_e > 0 ? 2 * all.count() * 0x1p-53 * all.squares : 0;
  return (std::max(moved, 0.0) + summed_in_binary64 + growth * all.squares + lost) * inflation;
}

}  // namespace

Expected squares_of(const Declared& declared, const ExpectedTensors& gradients) {
  const Choice two{"global_norm", {{"norm", std::string("2")}}};
  NormTerms terms;
  for (const auto& [name, gradient] : gradients) terms.add(declared, two, gradient);
  if (!terms.finite) return scalar(terms.power_sum, terms.largest_e < infinite ? 0 : infinite);
  const KernelClaim& claim = claim_of(declared, "norm");
  const double growth = relative_growth(declared, claim, gradients, [](double size) { return size * size; });
  return scalar(terms.power_sum, squares_error(single(declared), terms, growth, claim.global_float_atomics));
}

Expected norm(const Declared& declared, const Choice& clip, const NormTerms& terms) {
  return norm(declared, clip, terms, [&](const KernelClaim& claim, const Term&) {
    return gam(height_of(claim, terms.counts), single(declared).u());
  });
}

Expected coefficient(const Declared& declared, const Choice& clip, const Expected& norm, std::int64_t step) {
  return clip_rules(clip).coefficient(declared, clip, norm, step);
}

Expected clipped(const Declared& declared, const Choice& clip, const Expected& coefficient, const Expected& gradient) {
  return clip_rules(clip).clipped(declared, clip, coefficient, gradient);
}

Matrix<float> rounded_clip(const Choice& clip, float coefficient, const FloatsRef& gradient) {
  return clip_rules(clip).rounded(clip, coefficient, gradient);
}

// The learning rate as a subject derives it from its step count.

StepRate step_rate(const Choice& schedule, std::int64_t step) {
  return schedule_rules(schedule).rate(schedule, learning_rate<long double>(schedule, step), step);
}

StepRate few_roundings(long double exact, long double size) {
  return {exact, size * 0x1p-49L, 8 * (0x1p-24 * pays) * static_cast<double>(size)};
}

Bounded held_rate(const Declared& declared, const StepRate& rate) {
  Bounded held = constant(rate.exact, rate.margin + std::fabs(rate.exact) * 0x1p-49L);
  if (declared.claims.constants != "binary64") held.e += single(declared).accumulated(rate.in_fp32);
  return held;
}

Expected rate(const Declared& declared, const Choice& schedule, std::int64_t step) {
  const StepRate derived = step_rate(schedule, step);
  return scalar(derived.exact, held_rate(declared, derived).e);
}

// Clip coefficient, weight decay and running statistics, bit by bit.
namespace {

/// (running_statistics.1), or with the correction n / (n - 1) (running_statistics.2), one operation a line, stored.
Prediction predicted_moved(const Declared& declared, const Layer& layer, const Matrix<float>& running,
                           const Matrix<float>& batch, HeldConstant correction) {
  const HeldConstant keep = held_one_minus(declared, layer.number("momentum"));
  if (!as_written(declared, "running_stats") || !keep || !correction) return {};
  const float take = held(layer.number("momentum"));
  return of_each(running.rows(), running.cols(), [&](Eigen::Index i) {
    const float value = batch.data()[i] * *correction;
    const float kept = *keep * running.data()[i];
    const float taken = take * value;
    return stored(declared.master, kept + taken);
  });
}

}  // namespace

Prediction predicted_coefficient(const Declared& declared, const Choice& clip, float norm, std::int64_t step) {
  return clip_rules(clip).predicted_coefficient(declared, clip, norm, step);
}

Prediction predicted_decayed(const Declared& declared, const Choice& decay, const Choice& schedule, std::int64_t step,
                             const Matrix<float>& gradient, const Matrix<float>& parameter) {
  return decay_rules(decay).predicted(declared, decay, schedule, step, gradient, parameter);
}

Prediction predicted_running_mean(const Declared& declared, const Layer& layer, const Matrix<float>& running,
                                  const Matrix<float>& mean) {
  return predicted_moved(declared, layer, running, mean, 1.0F);
}

Prediction predicted_running_var(const Declared& declared, const Layer& layer, const Matrix<float>& running,
                                 const Matrix<float>& biased_var, std::int64_t rows) {
  if (rows < 2) return {};
  const long double correction = static_cast<long double>(rows) / static_cast<long double>(rows - 1);
  return predicted_moved(declared, layer, running, biased_var, held(declared, correction, correction * 0x1p-49L));
}

}  // namespace tally::oracle
