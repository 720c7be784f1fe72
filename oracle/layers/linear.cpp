// x has a row a sample and a column a feature, W a row a feature of y, b an element a feature of y. dy is the
// gradient of any loss by y, dx, dW and db those by the others, here as in every layer.
// (linear.1)  y = x Wᵀ + b
// (linear.2)  dx = dy W
// (linear.3)  dW = dyᵀ x
// (linear.4)  db_c = sum_r dy_rc
// linear: the product of (linear.1) stored in the GEMM's result format, then fl(z + b), stored; (linear.2) and
// (linear.3) are a GEMM each, (linear.4) is a column sum.
#include "oracle/case/contract.hpp"
#include "oracle/fixed_point/product.hpp"
#include "oracle/real/product.hpp"
#include "oracle/register_kind.hpp"
#include "oracle/tolerance/gemm.hpp"

namespace tally::oracle::linear_kind {
namespace {

template <class T>
ForwardResult<T> forward(const Pass<T>& pass, const Matrix<T>& x) {
  ForwardResult<T> result{product_with_transposed(x, pass.tensors.at("weight")), {}, {}};
  if (!pass.layer.flag("bias")) return result;
  const Matrix<T>& bias = pass.tensors.at("bias");
  over_rows<T>(x.rows(), [&](Eigen::Index first, Eigen::Index end) {
    for (Eigen::Index r = first; r < end; ++r)
      for (Eigen::Index c = 0; c < bias.cols(); ++c) result.y(r, c) += bias(0, c);
  });
  return result;
}

template <class T>
BackwardResult<T> backward(const Pass<T>& pass, const Matrix<T>& x, const Matrix<T>& dy) {
  BackwardResult<T> result;
  if (pass.gives_dx) result.dx = product(dy, pass.tensors.at("weight"));
  result.parameters["weight"] = product_of_transposed(dy, x);
  if (pass.layer.flag("bias")) result.parameters["bias"] = column_sums(dy);
  return result;
}

std::vector<std::int64_t> weight_shape(const Choice& layer, std::int64_t features) {
  return {layer.integer("out"), features};
}
std::vector<std::int64_t> bias_shape(const Choice& layer, std::int64_t) { return {layer.integer("out")}; }

const Contract contract{
    .kind = "linear",
    .options = {{.name = "out", .type = OptionType::integer, .standard = std::nullopt, .range = {.at_least = "1"}},
                {.name = "bias", .type = OptionType::boolean, .standard = true}},
    .tensors = {{.name = "weight", .role = Role::parameter, .shape = weight_shape},
                {.name = "bias",
                 .role = Role::parameter,
                 .shape = bias_shape,
                 .present = [](const Choice& layer) { return layer.flag("bias"); }}},
    .tied_sets = "out",
    .out_features = [](const Choice& layer, std::int64_t) { return layer.integer("out"); },
    .definition = "y = x W^T + b"};

/// The format a GEMM's result is rounded to before the bias is added: storage, unless the claim fuses the bias.
Format result_format(const Declared& declared) {
  const auto claim = declared.claims.kernels.find("gemm");
  return claim == declared.claims.kernels.end() ? declared.storage : format_of(claim->second.result);
}

/// fl(z + b) where there is a bias, stored.
BoundedMatrix with_bias(const BoundPass& pass, BoundedMatrix z) {
  const Declared& declared = pass.declared;
  const auto bias = pass.tensors.find("bias");
  z = stored(declared, bias == pass.tensors.end() ? declared.storage : result_format(declared), std::move(z));
  if (bias == pass.tensors.end()) return z;
  const Arithmetic fp32 = single(declared);
  const BoundedMatrix b(pass.declared, whole(bias->second));
  for (Eigen::Index i = 0; i < z.rows(); ++i) {
    for (Eigen::Index j = 0; j < z.cols(); ++j) z.set(i, j, fp32.add(z.at(i, j), b.at(0, j)));
  }
  return stored(declared, declared.storage, std::move(z));
}

BoundedMatrix bias_gradient(const Declared& declared, const Expected& dy) {
  const KernelClaim& claim = claim_of(declared, "linear.bias_gradient");
  return stored(declared, declared.storage, column_sums(declared, BoundedMatrix(declared, dy), claim));
}

/// A pass over what was read, with v and e of every tensor.
class WholePass {
 public:
  explicit WholePass(const BoundPass& pass) : tensors_(all_whole(pass.tensors)), pass_(with(pass, tensors_)) {}
  const BoundPass& get() const { return pass_; }

 private:
  static ExpectedTensors all_whole(const ExpectedTensors& tensors) {
    ExpectedTensors all;
    for (const auto& [name, tensor] : tensors) all.emplace(name, whole(tensor));
    return all;
  }
  static BoundPass with(const BoundPass& pass, const ExpectedTensors& tensors) {
    return {pass.layer, tensors, pass.cut, pass.declared, pass.decisions, pass.gives_dx};
  }

  ExpectedTensors tensors_;
  BoundPass pass_;
};

ExpectedForward forward_of(const BoundPass& pass, const Expected& x) {
  BoundedMatrix z =
      product(pass.declared, BoundedMatrix(pass.declared, x), transposed(pass.declared, pass.tensors.at("weight")));
  return {joined(pass.declared, exact_forward(pass, x).y, with_bias(pass, std::move(z))), {}, {}, {}};
}

ExpectedForward forward(const BoundPass& pass, const Expected& x) {
  if (x.only_read == nullptr) return forward_of(pass, x);
  return forward_of(WholePass(pass).get(), whole(x));
}

ExpectedBackward backward_of(const BoundPass& pass, const Expected& x, const Expected& dy) {
  const Declared& declared = pass.declared;
  auto exact = exact_backward(pass, x, dy);
  const BoundedMatrix input(declared, x), gradient(declared, dy), weight(declared, pass.tensors.at("weight"));
  ExpectedBackward result;
  if (pass.gives_dx)
    result.dx = joined(declared, exact.dx, stored(declared, declared.storage, product(declared, gradient, weight)));
  BoundedMatrix dw = stored(declared, declared.storage, product(declared, transposed(declared, dy), input));
  result.parameters["weight"] = joined(declared, std::move(exact.parameters.at("weight")), std::move(dw));
  if (pass.tensors.contains("bias"))
    result.parameters["bias"] = joined(declared, exact.parameters.at("bias"), bias_gradient(declared, dy));
  return result;
}

ExpectedBackward backward(const BoundPass& pass, const Expected& x, const Expected& dy) {
  if (x.only_read == nullptr) return backward_of(pass, x, dy);
  return backward_of(WholePass(pass).get(), whole(x), whole(dy));
}

std::optional<Expected> rows_of_y(const BoundPass& pass, const FloatsRef& x) {
  const FloatView weight(*pass.tensors.at("weight").only_read);
  auto z = product_of_read(pass.declared, x, Side::as_it_is, weight, Side::transposed);
  if (!z) return {};
  const auto bias = pass.tensors.find("bias");
  if (bias != pass.tensors.end() && !pass.declared.bounds_only()) z->exact.rowwise() += whole(bias->second).v.row(0);
  return joined(pass.declared, std::move(z->exact), with_bias(pass, std::move(z->bound)));
}

/// A gradient that is a product alone.
std::optional<Expected> stored_product(const BoundPass& pass, const FloatsRef& a, Side side_a, const FloatsRef& b) {
  auto product = product_of_read(pass.declared, a, side_a, b, Side::as_it_is);
  if (!product) return {};
  return joined(pass.declared, std::move(product->exact),
                stored(pass.declared, pass.declared.storage, std::move(product->bound)));
}

/// Rows of y and dx are those of x and dy; rows of dW are columns of dy.
std::optional<Expected> output_rows(const BoundPass& pass, const std::string& output, const Expected& x,
                                    const Expected& dy, Eigen::Index first, Eigen::Index rows) {
  if (output == "bias") {
    const Expected all = whole(dy);
    return joined(
        pass.declared, [&] { return column_sums(all.v); }, bias_gradient(pass.declared, all));
  }
  if (output == "y") return rows_of_y(pass, FloatView(*x.only_read).matrix().middleRows(first, rows));
  const FloatView gradient(*dy.only_read);
  if (output == "dx") {
    const FloatView weight(*pass.tensors.at("weight").only_read);
    return stored_product(pass, gradient.matrix().middleRows(first, rows), Side::as_it_is, weight);
  }
  return stored_product(pass, gradient.matrix().middleCols(first, rows), Side::transposed, FloatView(*x.only_read));
}

const Register<LayerDefinition> registered{{contract,
                                            []<class T>(Scalar<T>) -> ExactLayer<T> {
                                              return {forward<T>, backward<T>};
                                            },
                                            {{forward, backward, output_rows}}}};

}  // namespace
}  // namespace tally::oracle::linear_kind
