// Element by element; NaN counts as above 0. A replayed mask takes the place of the comparison.
// (relu.1)  y = x where x > 0, else 0
// (relu.2)  dx = dy where x > 0, else 0
// relu: exact. The kink is replayed (oracle/tolerance.md): a replayed decision holds for value and subject alike, and
// without one (relu.1) is 1-Lipschitz; (relu.2) is undecided where the interval of x holds both branches.
#include "oracle/case/contract.hpp"
#include "oracle/fixed_point/product.hpp"
#include "oracle/register_kind.hpp"
#include "oracle/tolerance/rule.hpp"

namespace tally::oracle::relu_kind {
namespace {

/// `value` where the unit is active, else 0.
template <class T>
Matrix<T> gated(const Pass<T>& pass, const Matrix<T>& x, const Matrix<T>& value) {
  const auto& replayed = pass.decisions.relu_active;
  Matrix<T> result(x.rows(), x.cols());
  const T zero = 0;
  over_rows<T>(x.rows(), [&](Eigen::Index first, Eigen::Index end) {
    for (Eigen::Index r = first; r < end; ++r)
      for (Eigen::Index c = 0; c < x.cols(); ++c) {
        const bool active = replayed ? (*replayed)(r, c) != 0 : !(x(r, c) <= zero);
        const T* const gates[] = {&zero, &value(r, c)};  // chosen without a branch: signs come as they like
        result(r, c) = *gates[active];
      }
  });
  return result;
}

template <class T>
ForwardResult<T> forward(const Pass<T>& pass, const Matrix<T>& x) {
  return {gated(pass, x, x), {}, {}};
}

template <class T>
BackwardResult<T> backward(const Pass<T>& pass, const Matrix<T>& x, const Matrix<T>& dy) {
  return {gated(pass, x, dy), {}};
}

const Contract contract{
    .kind = "relu", .options = {}, .definition = "y = max(x, 0), NaN passes; the derivative at 0 is 0"};

enum class Branch { active, inactive, open };

Branch branch(const BoundPass& pass, Bounded x, Eigen::Index i, Eigen::Index j) {
  if (pass.decisions.relu_active) {
    return (*pass.decisions.relu_active)(i, j) != 0 ? Branch::active : Branch::inactive;
  }
  if (std::isnan(x.v)) return Branch::open;
  if (x.v > x.e) return Branch::active;
  return x.v + x.e <= 0 ? Branch::inactive : Branch::open;
}

ExpectedForward forward(const BoundPass& pass, const Expected& x) {
  const BoundedMatrix input(pass.declared, x);
  BoundedMatrix y = input;
  for (Eigen::Index i = 0; i < y.rows(); ++i) {
    for (Eigen::Index j = 0; j < y.cols(); ++j) {
      const Bounded in = input.at(i, j);
      const Branch taken = branch(pass, in, i, j);
      if (std::isnan(in.v) || taken == Branch::active) continue;      // NaN is passed on
      const bool certain = taken == Branch::inactive && decided(in);  // an undecided one may be NaN
      y.set(i, j, certain ? Bounded{} : Bounded{taken == Branch::inactive ? 0.0 : std::max(in.v, 0.0), in.e});
    }
  }
  return {joined(pass.declared, exact_forward(pass, x).y, y), {}, {}, {}};
}

ExpectedBackward backward(const BoundPass& pass, const Expected& x, const Expected& dy) {
  const BoundedMatrix input(pass.declared, x), gradient(pass.declared, dy);
  BoundedMatrix dx = gradient;
  for (Eigen::Index i = 0; i < dx.rows(); ++i) {
    for (Eigen::Index j = 0; j < dx.cols(); ++j) {
      const Bounded in = input.at(i, j), g = gradient.at(i, j);
      const Branch taken = branch(pass, in, i, j);
      if (taken == Branch::active) continue;
      const bool not_a_number = std::isnan(in.v) && decided(in);  // compares false: no gradient
      const Bounded either{in.v > 0 ? g.v : 0, std::fabs(g.v) + g.e};
      dx.set(i, j, taken == Branch::inactive || not_a_number ? Bounded{} : either);
    }
  }
  return {joined(pass.declared, exact_backward(pass, x, dy).dx, dx), {}};
}

const Register<LayerDefinition> registered{{contract,
                                            []<class T>(Scalar<T>) -> ExactLayer<T> {
                                              return {forward<T>, backward<T>};
                                            },
                                            {{forward, backward}}}};

}  // namespace
}  // namespace tally::oracle::relu_kind
