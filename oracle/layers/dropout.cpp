// Element by element; mask is 1 where an element is kept and 0 where it is dropped.
// (dropout.1)  y = x · mask / (1 - p)
// (dropout.2)  dx = dy · mask / (1 - p)
// dropout: (dropout.1) and (dropout.2) as one product with the constant fl(1 / (1 - p)), stored; 0 where dropped.
// dropout: (dropout.1) and (dropout.2) bit by bit, one product with a constant as kernels/arithmetic.md writes them.
#include "oracle/case/contract.hpp"
#include "oracle/exact/exact.hpp"
#include "oracle/real/number.hpp"
#include "oracle/register_kind.hpp"
#include "oracle/tolerance/elementwise.hpp"
#include "oracle/tolerance/predicted_bits.hpp"
#include "oracle/tolerance/rule.hpp"

namespace tally::oracle::dropout_kind {
namespace {

template <class T>
Matrix<T> masked(const Pass<T>& pass, const Matrix<T>& value) {
  const T keep = 1 - number<T>(pass.layer.number("p"));
  const Matrix<T>& mask = pass.tensors.at("mask");
  return value.binaryExpr(mask, [&keep](const T& v, const T& m) -> T { return v * m / keep; });
}

template <class T>
ForwardResult<T> forward(const Pass<T>& pass, const Matrix<T>& x) {
  return {masked(pass, x), {}, {}};
}

template <class T>
BackwardResult<T> backward(const Pass<T>& pass, const Matrix<T>&, const Matrix<T>& dy) {
  return {masked(pass, dy), {}};
}

constexpr std::int64_t rows_of_x = -1;

const Contract contract{.kind = "dropout",
                        .options = {{.name = "p",
                                     .type = OptionType::number,
                                     .standard = std::nullopt,
                                     .range = {.at_least = "0", .below = "1"}}},
                        .tensors = {{.name = "mask",
                                     .role = Role::mask,
                                     .shape = [](const Choice&, std::int64_t features) -> std::vector<std::int64_t> {
                                       return {rows_of_x, features};
                                     }}},
                        .definition = "y = x * mask / (1 - p); the mask belongs to the sample"};

BoundedMatrix scaled(const BoundPass& pass, const Expected& in) {
  const Arithmetic fp32 = single(pass.declared), storage(pass.declared, pass.declared.storage);
  const Bounded f = kept_factor(pass);
  const auto& mask = pass.tensors.at("mask").v;
  BoundedMatrix out(pass.declared, in);
  for (Eigen::Index i = 0; i < out.rows(); ++i) {
    for (Eigen::Index j = 0; j < out.cols(); ++j) {
      out.set(i, j, mask(i, j) != 0 ? storage.store(fp32.mul(out.at(i, j), f)) : Bounded{});
    }
  }
  return out;
}

/// Dropped elements are selected away, also where they are not finite.
Matrix<long double> masked(const BoundPass& pass, Matrix<long double> exact) {
  if (pass.declared.bounds_only()) return exact;
  return (pass.tensors.at("mask").v.array() != 0).select(exact, Matrix<long double>::Zero(exact.rows(), exact.cols()));
}

ExpectedForward forward(const BoundPass& pass, const Expected& x) {
  return {joined(pass.declared, masked(pass, exact_forward(pass, x).y), scaled(pass, x)), {}, {}, {}};
}

ExpectedBackward backward(const BoundPass& pass, const Expected& x, const Expected& dy) {
  return {joined(pass.declared, masked(pass, exact_backward(pass, x, dy).dx), scaled(pass, dy)), {}};
}

Prediction scaled(const BoundPass& pass, const Matrix<float>& in, std::string_view operation) {
  const long double exact = 1 / (1 - number<long double>(pass.layer.number("p")));
  const HeldConstant factor = held(pass.declared, exact, exact * of_inverse(exact * 0x1p-51L));
  if (!as_written(pass.declared, operation) || !factor) return {};
  const auto& mask = pass.tensors.at("mask").v;
  return of_each(in.rows(), in.cols(), [&](Eigen::Index i) {
    return mask.data()[i] != 0 ? stored(pass.declared.storage, in.data()[i] * *factor) : 0.0F;
  });
}

Prediction y(const BoundPass& pass, const Matrix<float>& x, const Statistics&) {
  return scaled(pass, x, "dropout.forward");
}

Prediction dx(const BoundPass& pass, const Statistics&, const Matrix<float>& dy) {
  return scaled(pass, dy, "dropout.backward");
}

const Register<LayerDefinition> registered{{contract,
                                            []<class T>(Scalar<T>) -> ExactLayer<T> {
                                              return {forward<T>, backward<T>};
                                            },
                                            {{forward, backward}, {y, nullptr, dx}}}};

}  // namespace
}  // namespace tally::oracle::dropout_kind
