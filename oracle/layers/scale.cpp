// (scale.1)  y = f x
// (scale.2)  dx = f dy
// scale: (scale.1) and (scale.2) as one product with the factor, a number of the case rounded to fp32, stored.
// scale: (scale.1) and (scale.2) bit by bit, one product as kernels/arithmetic.md writes it.
#include "oracle/case/contract.hpp"
#include "oracle/real/number.hpp"
#include "oracle/register_kind.hpp"
#include "oracle/tolerance/elementwise.hpp"
#include "oracle/tolerance/predicted_bits.hpp"
#include "oracle/tolerance/rule.hpp"

namespace tally::oracle::scale_kind {
namespace {

template <class T>
Matrix<T> scaled(const Pass<T>& pass, const Matrix<T>& value) {
  return value * number<T>(pass.layer.number("factor"));
}

template <class T>
ForwardResult<T> forward(const Pass<T>& pass, const Matrix<T>& x) {
  return {scaled(pass, x), {}, {}};
}

template <class T>
BackwardResult<T> backward(const Pass<T>& pass, const Matrix<T>&, const Matrix<T>& dy) {
  return {scaled(pass, dy), {}};
}

const Contract contract{
    .kind = "scale",
    .options = {{.name = "factor", .type = OptionType::number, .standard = std::nullopt, .since = 2}},
    .drawn = false,
    .definition = "y = factor · x: an adapter's alpha / r"};

BoundedMatrix scaled(const BoundPass& pass, const Expected& in) {
  const Arithmetic fp32 = single(pass.declared), storage(pass.declared, pass.declared.storage);
  const Bounded factor = constant(pass.layer.number("factor"));
  BoundedMatrix out(pass.declared, in);
  for (Eigen::Index i = 0; i < out.rows(); ++i)
    for (Eigen::Index j = 0; j < out.cols(); ++j) out.set(i, j, storage.store(fp32.mul(out.at(i, j), factor)));
  return out;
}

ExpectedForward forward(const BoundPass& pass, const Expected& x) {
  return {joined(
              pass.declared, [&] { return exact_forward(pass, x).y; }, scaled(pass, x)),
          {},
          {},
          {}};
}

ExpectedBackward backward(const BoundPass& pass, const Expected& x, const Expected& dy) {
  return {joined(
              pass.declared, [&] { return exact_backward(pass, x, dy).dx; }, scaled(pass, dy)),
          {}};
}

Prediction scaled(const BoundPass& pass, const Matrix<float>& in, std::string_view operation) {
  if (!as_written(pass.declared, operation)) return {};
  const auto factor = static_cast<float>(pass.layer.number("factor").to_double());
  return of_each(in.rows(), in.cols(),
                 [&](Eigen::Index i) { return stored(pass.declared.storage, in.data()[i] * factor); });
}

Prediction y(const BoundPass& pass, const Matrix<float>& x, const Statistics&) {
  return scaled(pass, x, "scale.forward");
}

Prediction dx(const BoundPass& pass, const Statistics&, const Matrix<float>& dy) {
  return scaled(pass, dy, "scale.backward");
}

const Register<LayerDefinition> registered{{contract,
                                            []<class T>(Scalar<T>) -> ExactLayer<T> {
                                              return {forward<T>, backward<T>};
                                            },
                                            {{forward, backward}, {y, nullptr, dx}}}};

}  // namespace
}  // namespace tally::oracle::scale_kind
