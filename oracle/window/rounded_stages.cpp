// Stages that are one correctly rounded operation: their bits are predicted.
#include "oracle/tolerance/as_written.hpp"
#include "oracle/tolerance/constants.hpp"
#include "oracle/tolerance/rounded.hpp"
#include "oracle/tolerance/rule.hpp"
#include "oracle/window/bound_stages.hpp"

namespace tally::oracle {
namespace {

bool is_fp32(const Format& format) { return format.p == 24; }

}  // namespace

Matrix<float> rounded_cast(const Format& to, const FloatsRef& x) {
  if (is_fp32(to)) return x;
  return x.unaryExpr([&](float each) { return static_cast<float>(rounded(to, each)); });
}

Matrix<float> rounded_accumulate(const Format& accumulate, const FloatsRef& buffer, const FloatsRef& gradient) {
  return rounded_cast(accumulate, buffer + gradient);
}

Matrix<float> rounded_native_accumulate(const Format& accumulate, const FloatsRef& buffer, const FloatsRef& gradient) {
  return buffer.binaryExpr(gradient, [&](float b, float g) {
    return static_cast<float>(rounded_sum(accumulate, b, rounded(accumulate, g)));
  });
}

std::optional<Matrix<float>> rounded_accumulate(const Declared& declared, const FloatsRef& buffer,
                                                const FloatsRef& gradient) {
  const std::string& algorithm = claim_of(declared, "accumulate").algorithm;
  if (algorithm.empty() || algorithm == "plain") return rounded_accumulate(declared.accumulate, buffer, gradient);
  if (algorithm == "native") return rounded_native_accumulate(declared.accumulate, buffer, gradient);
  return {};
}

Expected held_accumulate(const Declared& declared, const FloatsRef& buffer, const FloatsRef& gradient) {
  if (const auto bits = rounded_accumulate(declared, buffer, gradient)) return known(*bits);
  return accumulated(declared, known(buffer), known(gradient));
}

CompensatedStep rounded_compensated(const Declared& declared, const FloatsRef& buffer, const FloatsRef& compensation,
                                    const FloatsRef& gradient) {
  const Format& in = declared.accumulate;
  CompensatedStep next{buffer, compensation};
  for (Eigen::Index i = 0; i < next.buffer.size(); ++i) {
    const double s = next.buffer.data()[i], c = next.compensation.data()[i];
    const double y = rounded_sum(in, rounded(in, gradient.data()[i]), -c), t = rounded_sum(in, s, y);
    next.buffer.data()[i] = static_cast<float>(t);
    next.compensation.data()[i] = static_cast<float>(rounded_sum(in, rounded_sum(in, t, -s), -y));
  }
  return next;
}

Matrix<float> rounded_product(const FloatsRef& x, float factor) { return x * factor; }

Expected predicted_constant(const Expected& constant) {
  const long double v = constant.v(0, 0);
  const auto held = static_cast<float>(static_cast<double>(v));
  const auto within = [&](float other) { return static_cast<double>(std::fabs(other - v)) <= constant.e(0, 0); };
  const bool alone = !within(std::nextafter(held, INFINITY)) && !within(std::nextafter(held, -INFINITY));
  return alone && within(held) ? scalar(held) : constant;
}

bool any_non_finite(const Tensor& buffer) {
  const FloatView view(buffer);
  const FloatsRef x = view;
  return std::any_of(x.data(), x.data() + x.size(), [](float each) { return !std::isfinite(each); });
}

}  // namespace tally::oracle
