// Stages that are one correctly rounded operation: their bits are predicted.
#include "oracle/tolerance/constants.hpp"
#include "oracle/tolerance/rounded.hpp"
#include "oracle/tolerance/rule.hpp"
#include "oracle/window/bound_stages.hpp"

namespace tally::oracle {
namespace {

Expected exactly(const Matrix<float>& x) { return {x.cast<long double>(), Matrix<double>::Zero(x.rows(), x.cols())}; }

/// f of every element, exactly.
template <class F>
Expected predicted(const Matrix<float>& x, F&& f) {
  Expected out{Matrix<long double>(x.rows(), x.cols()), Matrix<double>::Zero(x.rows(), x.cols())};
  for (Eigen::Index i = 0; i < x.size(); ++i) out.v.data()[i] = f(i);
  return out;
}

}  // namespace

Expected rounded_cast(const Format& to, const Matrix<float>& x) {
  return predicted(x, [&](Eigen::Index i) { return rounded(to, x.data()[i]); });
}

Expected rounded_accumulate(const Format& accumulate, const Matrix<float>& buffer, const Matrix<float>& gradient) {
  return predicted(buffer, [&](Eigen::Index i) { return rounded(accumulate, buffer.data()[i] + gradient.data()[i]); });
}

Expected rounded_native_accumulate(const Format& accumulate, const Matrix<float>& buffer,
                                   const Matrix<float>& gradient) {
  return predicted(buffer, [&](Eigen::Index i) {
    return rounded_sum(accumulate, buffer.data()[i], rounded(accumulate, gradient.data()[i]));
  });
}

Expected held_accumulate(const Declared& declared, const Matrix<float>& buffer, const Matrix<float>& gradient) {
  const std::string& algorithm = claim_of(declared, "accumulate").algorithm;
  const bool plain = algorithm.empty() || algorithm == "plain";
  if (!plain && algorithm != "native") return accumulated(declared, exactly(buffer), exactly(gradient));
  return plain ? rounded_accumulate(declared.accumulate, buffer, gradient)
               : rounded_native_accumulate(declared.accumulate, buffer, gradient);
}

CompensatedStep rounded_compensated(const Declared& declared, const Matrix<float>& buffer,
                                    const Matrix<float>& compensation, const Matrix<float>& gradient) {
  const Format& in = declared.accumulate;
  CompensatedStep next{exactly(buffer), exactly(compensation)};
  for (Eigen::Index i = 0; i < buffer.size(); ++i) {
    const double s = buffer.data()[i], c = compensation.data()[i];
    const double y = rounded_sum(in, rounded(in, gradient.data()[i]), -c), t = rounded_sum(in, s, y);
    next.buffer.v.data()[i] = t;
    next.compensation.v.data()[i] = rounded_sum(in, rounded_sum(in, t, -s), -y);
  }
  return next;
}

Expected rounded_product(const Matrix<float>& x, float factor) {
  return predicted(x, [&](Eigen::Index i) { return x.data()[i] * factor; });
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
