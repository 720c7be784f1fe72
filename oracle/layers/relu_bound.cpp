// relu: exact. The kink is replayed (oracle/tolerance.md): a replayed decision holds for value and subject alike, and
// without one (relu.1) is 1-Lipschitz; (relu.2) is undecided where the interval of x holds both branches.
#include "oracle/tolerance/rule.hpp"

namespace tally::oracle::relu_bound {
namespace {

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
  const BoundedMatrix input(x);
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
  return {joined(exact_forward(pass, x).y, y), {}, {}, {}};
}

ExpectedBackward backward(const BoundPass& pass, const Expected& x, const Expected& dy) {
  const BoundedMatrix input(x), gradient(dy);
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
  return {joined(exact_backward(pass, x, dy).dx, dx), {}};
}

const RegisterBoundRule registered("relu", {forward, backward});

}  // namespace
}  // namespace tally::oracle::relu_bound
