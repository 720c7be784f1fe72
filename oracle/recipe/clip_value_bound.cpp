// (clip_value.1): nothing rounds but max_value itself.
#include "oracle/recipe/recipe_rules.hpp"
#include "oracle/tolerance/constants.hpp"
#include "oracle/tolerance/each.hpp"

namespace tally::oracle::clip_value_bound {
namespace {

Expected clamped(const Choice& clip, const Expected&, const Expected& gradient) {
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
  return joined([&] { return clipped<long double>(clip, 1, gradient.v); }, each(clamp, gradient));
}

/// Every element held to +-RN32(max_value).
Matrix<float> rounded(const Choice& clip, float, const FloatsRef& gradient) {
  const auto most = static_cast<float>(clip.number("max_value").to_double());
  return gradient.unaryExpr([&](float g) { return std::isnan(g) ? g : std::clamp(g, -most, most); });
}

const RegisterClipRules registered("value", {clamped, rounded});

}  // namespace
}  // namespace tally::oracle::clip_value_bound
