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

/// f of a gradient; of one that is only read some rows at a time, which fit a cache.
template <class F>
void each_stretch(const Expected& gradient, F&& f) {
  if (gradient.only_read == nullptr) return f(gradient);
  constexpr Eigen::Index elements_at_once = 1 << 14;
  const Tensor& tensor = *gradient.only_read;
  const Eigen::Index rows = row_count(tensor), columns = static_cast<Eigen::Index>(tensor.elements()) / rows;
  const Eigen::Index at_once = std::max<Eigen::Index>(1, elements_at_once / std::max<Eigen::Index>(1, columns));
  for (Eigen::Index first = 0; first < rows; first += at_once) {
    const Expected next = as_read(tensor, first, std::min(at_once, rows - first));
    f(next);
    mapped_bytes_read(static_cast<std::size_t>(next.v.size()) * sizeof(float));
  }
}

void add(const Expected& g, Census& all) {
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

/// What the additions of all terms cost, relative to what they add up to: by the order that is claimed, for these
/// sizes.
template <class Term>
double relative_growth(const KernelClaim& claim, const ExpectedTensors& gradients, Term&& term) {
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
  Census all;
  GradientNorm<long double> sum(clip);
  for (const auto& [name, g] : gradients) {
    each_stretch(g, [&](const Expected& next) {
      add(next, all);
      sum.add(next.v);
    });
  }
  const long double exact = sum.of_all();
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

Matrix<float> rounded_clip(const Choice& clip, float coefficient, const FloatsRef& gradient) {
  return clip_rules(clip).rounded(clip, coefficient, gradient);
}

}  // namespace tally::oracle
