// Element by element over the inputs g, the gate, and u, with the s of (sigmoid.1).
// (gated.1)  y = a(g) u
// (gated.2)  dg = dy u a'(g)
// (gated.3)  du = dy a(g)
// (gated.4)  a(g) = g s(g),  a'(g) = s(g) + g s(g) (1 - s(g)): silu
// gelu: a and a' are what (gelu.1) and (gelu.2) have, gelu_tanh: what (gelu.3) and (gelu.4) have, of dy = 1.
// 1 - s(g) is written s(-g): no term overflows, and nothing cancels there.
// gated: (gated.1), (gated.2) and (gated.3) by the operations of kernels/arithmetic.md. A kernel of the variant
// `two_step` stores the activation before it is multiplied, and its gradient before it goes through the activation.
#include "oracle/case/contract.hpp"
#include "oracle/layers/functions.hpp"
#include "oracle/register_kind.hpp"

namespace tally::oracle::gated_kind {
namespace {

template <class T>
T logistic(const T& x) {
  return 1 / (1 + exp(T(-x)));
}

template <class T>
struct Silu {
  T value(const T& g) const { return g * logistic(g); }
  T slope(const T& g) const {
    const T s = logistic(g);
    return s + g * s * logistic(T(-g));
  }
};

/// What `use` makes of the layer's activation.
template <class T, class Use>
auto by_activation(const Pass<T>& pass, Use use) {
  const std::string& activation = pass.layer.text("activation");
  if (activation == "gelu") return use(ErfGelu<T>{});
  if (activation == "gelu_tanh") return use(TanhGelu<T>{});
  return use(Silu<T>{});
}

template <class T>
ForwardResult<T> forward(const Pass<T>& pass, const Matrix<T>& gate) {
  return by_activation(pass, [&](const auto& a) -> ForwardResult<T> {
    return {gate.binaryExpr(*pass.others.at(0), [&a](const T& g, const T& u) -> T { return a.value(g) * u; }), {}, {}};
  });
}

template <class T>
BackwardResult<T> backward(const Pass<T>& pass, const Matrix<T>& gate, const Matrix<T>& dy) {
  return by_activation(pass, [&](const auto& a) {
    const Matrix<T>& up = *pass.others.at(0);
    const Matrix<T> slope = gate.unaryExpr([&a](const T& g) -> T { return a.slope(g); });
    BackwardResult<T> result{slope.cwiseProduct(dy.cwiseProduct(up)), {}};
    result.more_dx.push_back(gate.unaryExpr([&a](const T& g) -> T { return a.value(g); }).cwiseProduct(dy));
    return result;
  });
}

const Contract contract{.kind = "gated",
                        .options = {{.name = "activation",
                                     .type = OptionType::text,
                                     .standard = std::string("silu"),
                                     .words = {"silu", "gelu", "gelu_tanh"}}},
                        .drawn = false,
                        .least_inputs = 2,
                        .most_inputs = 2,
                        .input_words = {"gate", "up"},
                        .definition = "y = activation(gate) * up, element by element",
                        .kernels_by = "activation"};

constexpr Bounded one{1, 0};

/// Between the two steps: one store where they are two, and where nothing is claimed.
class Between {
 public:
  Between(const BoundPass& pass, const char* direction)
      : storage_(pass.declared, pass.declared.storage),
        stores_(claim_of(pass.declared, kernel_family_of(pass.layer) + direction).algorithm != "fused") {}
  Bounded operator()(Bounded x) const { return stores_ ? storage_.store(x) : x; }

 private:
  Arithmetic storage_;
  bool stores_;
};

/// An activation a: a(g), and a'(g) times `gradient`, which is what dy and `up` come to.
struct BoundedSilu {
  static Bounded value(const Elementary& fp32, Bounded g) { return fp32.mul(g, logistic_of(fp32, g)); }
  static Bounded through(const Elementary& fp32, Bounded g, Bounded gradient, Bounded dy, Bounded up) {
    const Bounded s = logistic_of(fp32, g);
    const Bounded bracket = fp32.add(one, fp32.mul(g, fp32.sub(one, s)));
    return fp32.in_any_order(fp32.mul(gradient, fp32.mul(s, bracket)), {dy, up, s, bracket});
  }
};

template <class Gelu>
struct BoundedGelu : Gelu {
  static Bounded through(const Elementary& fp32, Bounded g, Bounded gradient, Bounded dy, Bounded up) {
    const Bounded slope = Gelu::slope(fp32, g);
    return fp32.in_any_order(fp32.mul(gradient, slope), {dy, up, slope});
  }
};

/// What `use` makes of the layer's activation.
template <class Use>
auto by_activation(const BoundPass& pass, Use use) {
  const std::string& activation = pass.layer.text("activation");
  if (activation == "gelu") return use(BoundedGelu<BoundedGeluErf>{});
  if (activation == "gelu_tanh") return use(BoundedGelu<BoundedGeluTanh>{});
  return use(BoundedSilu{});
}

template <class Of>
BoundedMatrix each(const BoundedMatrix& like, Of of) {
  BoundedMatrix result(like.rows(), like.cols());
  for (Eigen::Index i = 0; i < like.rows(); ++i)
    for (Eigen::Index j = 0; j < like.cols(); ++j) result.set(i, j, of(i, j));
  return result;
}

ExpectedForward forward(const BoundPass& pass, const Expected& gate) {
  const Elementary fp32(pass, ".forward");
  const Between between(pass, ".forward");
  const Arithmetic storage(pass.declared, pass.declared.storage);
  const BoundedMatrix g(pass.declared, gate), u(pass.declared, *pass.others.at(0));
  BoundedMatrix y = by_activation(pass, [&]<class Activation>(Activation) {
    return each(g, [&](Eigen::Index i, Eigen::Index j) {
      return storage.store(fp32.mul(between(Activation::value(fp32, g.at(i, j))), u.at(i, j)));
    });
  });
  return {joined(pass.declared, exact_forward(pass, gate).y, std::move(y)), {}, {}, {}};
}

ExpectedBackward backward(const BoundPass& pass, const Expected& gate, const Expected& dy) {
  const Elementary fp32(pass, ".backward");
  const Between between(pass, ".backward");
  const Arithmetic storage(pass.declared, pass.declared.storage);
  const BoundedMatrix g(pass.declared, gate), u(pass.declared, *pass.others.at(0)), d(pass.declared, dy);
  auto [dg, du] = by_activation(pass, [&]<class Activation>(Activation) {
    return std::pair{each(g,
                          [&](Eigen::Index i, Eigen::Index j) {
                            return storage.store(Activation::through(
                                fp32, g.at(i, j), between(fp32.mul(d.at(i, j), u.at(i, j))), d.at(i, j), u.at(i, j)));
                          }),
                     each(g, [&](Eigen::Index i, Eigen::Index j) {
                       return storage.store(fp32.mul(d.at(i, j), between(Activation::value(fp32, g.at(i, j)))));
                     })};
  });
  const auto exact = exact_backward(pass, gate, dy);
  ExpectedBackward result{joined(pass.declared, exact.dx, std::move(dg)), {}};
  result.more_dx.push_back(joined(
      pass.declared, [&] { return exact.more_dx.at(0); }, std::move(du)));
  return result;
}

const Register<LayerDefinition> registered{{contract,
                                            []<class T>(Scalar<T>) -> ExactLayer<T> {
                                              return {forward<T>, backward<T>};
                                            },
                                            {{forward, backward}}}};

}  // namespace
}  // namespace tally::oracle::gated_kind
