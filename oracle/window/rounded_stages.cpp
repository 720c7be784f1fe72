// Stages that are one correctly rounded operation: their bits are predicted.
#include "oracle/tolerance/constants.hpp"
#include "oracle/tolerance/rounded.hpp"
#include "oracle/tolerance/rule.hpp"
#include "oracle/window/bound_stages.hpp"

namespace tally::oracle {
namespace {

template <class F>
Expected predicted(const Expected& x, F&& f) {
  Expected out{Matrix<long double>(x.v.rows(), x.v.cols()), Matrix<double>::Zero(x.v.rows(), x.v.cols())};
  for (Eigen::Index i = 0; i < x.v.size(); ++i) out.v.data()[i] = f(i);
  return out;
}

float element(const Expected& x, Eigen::Index i) { return static_cast<float>(x.v.data()[i]); }

}  // namespace

Expected rounded_cast(const Format& to, const Expected& x) {
  return predicted(x, [&](Eigen::Index i) { return rounded(to, static_cast<double>(x.v.data()[i])); });
}

Expected rounded_accumulate(const Format& accumulate, const Expected& buffer, const Expected& gradient) {
  return predicted(buffer, [&](Eigen::Index i) {
    const float sum = element(buffer, i) + element(gradient, i);
    return rounded(accumulate, sum);
  });
}

Expected rounded_native_accumulate(const Format& accumulate, const Expected& buffer, const Expected& gradient) {
  return predicted(buffer, [&](Eigen::Index i) {
    const double addend = rounded(accumulate, static_cast<double>(gradient.v.data()[i]));
    return rounded_sum(accumulate, static_cast<double>(buffer.v.data()[i]), addend);
  });
}

Expected held_accumulate(const Declared& subject, const Expected& buffer, const Expected& gradient) {
  const std::string& algorithm = claim_of(subject, "accumulate").algorithm;
  if (algorithm.empty() || algorithm == "plain") return rounded_accumulate(subject.accumulate, buffer, gradient);
  if (algorithm == "native") return rounded_native_accumulate(subject.accumulate, buffer, gradient);
  return accumulated(subject, buffer, gradient);
}

Expected rounded_product(const Expected& x, const Expected& factor) {
  const auto by = static_cast<float>(factor.v(0, 0));
  return predicted(x, [&](Eigen::Index i) { return element(x, i) * by; });
}

Expected rounded_clamp(const Choice& clip, const Expected& x) {
  const auto most = static_cast<float>(clip.number("max_value").to_double());
  return predicted(x, [&](Eigen::Index i) {
    const float g = element(x, i);
    return std::isnan(g) ? g : std::clamp(g, -most, most);
  });
}

Expected predicted_constant(const Expected& constant) {
  const long double v = constant.v(0, 0);
  const auto held = static_cast<float>(static_cast<double>(v));
  const auto within = [&](float other) { return static_cast<double>(std::fabs(other - v)) <= constant.e(0, 0); };
  const bool alone = !within(std::nextafter(held, INFINITY)) && !within(std::nextafter(held, -INFINITY));
  return alone && within(held) ? scalar(held) : constant;
}

bool any_non_finite(const Tensor& buffer) {
  for (std::size_t i = 0; i < buffer.elements(); ++i) {
    if (!std::isfinite(buffer.value(i))) return true;
  }
  return false;
}

}  // namespace tally::oracle
