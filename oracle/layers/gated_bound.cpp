// gated: (gated.1), (gated.2) and (gated.3) by the operations of kernels/arithmetic.md. A kernel of the variant
// `two_step` stores the activation before it is multiplied, and its gradient before it goes through the activation.
#include "oracle/layers/gelu_bound.hpp"
#include "oracle/layers/logistic_bound.hpp"

namespace tally::oracle::gated_bound {
namespace {

constexpr Bounded one{1, 0};

/// Between the two steps: one store where they are two, and where nothing is claimed.
class Between {
 public:
  Between(const BoundPass& pass, const char* direction)
      : storage_(pass.declared.storage),
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
  const Arithmetic storage(pass.declared.storage);
  const BoundedMatrix g(gate), u(*pass.others.at(0));
  BoundedMatrix y = by_activation(pass, [&]<class Activation>(Activation) {
    return each(g, [&](Eigen::Index i, Eigen::Index j) {
      return storage.store(fp32.mul(between(Activation::value(fp32, g.at(i, j))), u.at(i, j)));
    });
  });
  return {joined(exact_forward(pass, gate).y, std::move(y)), {}, {}, {}};
}

ExpectedBackward backward(const BoundPass& pass, const Expected& gate, const Expected& dy) {
  const Elementary fp32(pass, ".backward");
  const Between between(pass, ".backward");
  const Arithmetic storage(pass.declared.storage);
  const BoundedMatrix g(gate), u(*pass.others.at(0)), d(dy);
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
  ExpectedBackward result{joined(exact.dx, std::move(dg)), {}};
  result.more_dx.push_back(joined([&] { return exact.more_dx.at(0); }, std::move(du)));
  return result;
}

const RegisterBoundRule registered("gated", {forward, backward});

}  // namespace
}  // namespace tally::oracle::gated_bound
