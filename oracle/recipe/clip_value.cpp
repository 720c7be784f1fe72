// g stands for every element of every gradient.
// (clip_value.1)  g <- max(-max_value, min(g, max_value))
// (clip_value.1): nothing rounds but max_value itself.
#include "oracle/case/contract.hpp"
#include "oracle/real/functions.hpp"
#include "oracle/recipe/recipe_rules.hpp"
#include "oracle/register_kind.hpp"
#include "oracle/tolerance/elementwise.hpp"

namespace tally::oracle::clip_value_kind {
namespace {

template <class T>
Matrix<T> clamped(const Choice& clip, const T&, const Matrix<T>& gradient) {
  const T most = number<T>(clip.number("max_value")), least = -most;
  return gradient.unaryExpr([&](const T& g) -> T { return larger(smaller(g, most), least); });
}

const Contract contract{
    .kind = "value",
    .options = {{.name = "max_value", .type = OptionType::number, .standard = std::nullopt, .range = {.above = "0"}}},
    .definition = "every element of g clamped to +-max_value"};

Expected clamped(const Declared& declared, const Choice& clip, const Expected&, const Expected& gradient) {
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
  return joined(
      declared, [&] { return clipped<long double>(clip, 1, gradient.v); }, each(declared, clamp, gradient));
}

/// Every element held to +-RN32(max_value).
Matrix<float> rounded(const Choice& clip, float, const FloatsRef& gradient) {
  const auto most = static_cast<float>(clip.number("max_value").to_double());
  return gradient.unaryExpr([&](float g) { return std::isnan(g) ? g : std::clamp(g, -most, most); });
}

const Register<ClipDefinition> registered{
    {contract, []<class T>(Scalar<T>) -> ExactClip<T> { return {clamped<T>}; }, {clamped, rounded}}};

}  // namespace
}  // namespace tally::oracle::clip_value_kind
