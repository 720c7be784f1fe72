#include "oracle/recipe/sgd_bound.hpp"

#include "oracle/tolerance/constants.hpp"
#include "oracle/tolerance/each.hpp"

namespace tally::oracle {

Expected sgd_momentum(const Declared& declared, const Choice& optimizer, const Expected& gradient,
                      const Expected& old) {
  const Arithmetic fp32 = single(), master(declared.master);
  if (old.v.size() == 0) return joined(gradient.v, each([&](Bounded g) { return master.store(g); }, gradient));
  const Bounded mu = constant(optimizer.number("momentum")), kept = one_minus(declared, optimizer.number("dampening"));
  const Slot<long double> before{Matrix<long double>::Zero(old.v.rows(), old.v.cols()), {old.v}};
  return joined([&] { return updated<long double>(optimizer, 0, 0, gradient.v, before).state[0]; },
                each([&](Bounded g, Bounded b) { return master.store(fp32.add(fp32.mul(mu, b), fp32.mul(kept, g))); },
                     gradient, old));
}

Expected sgd_parameter(const Declared& declared, const Choice& optimizer, const Expected& rate,
                       const Expected& gradient, const Expected& momentum, const Expected& parameter) {
  const Arithmetic fp32 = single(), master(declared.master);
  const Bounded lr = bounded_scalar(rate);
  const auto moved = [&](Bounded p, Bounded d) { return master.store(fp32.sub(p, fp32.mul(lr, d))); };
  const Expected& direction = momentum.v.size() == 0 ? gradient : momentum;
  if (momentum.v.size() == 0 || !optimizer.flag("nesterov")) {
    return joined([&] { return parameter.v - rate.v(0, 0) * direction.v; }, each(moved, parameter, direction));
  }
  const Bounded mu = constant(optimizer.number("momentum"));
  const auto exact_mu = number<long double>(optimizer.number("momentum"));
  return joined([&] { return parameter.v - rate.v(0, 0) * (gradient.v + exact_mu * momentum.v); },
                each([&](Bounded p, Bounded g, Bounded b) { return moved(p, fp32.add(g, fp32.mul(mu, b))); }, parameter,
                     gradient, momentum));
}

}  // namespace tally::oracle
