#include "oracle/tolerance/constants.hpp"

#include "oracle/tolerance/rule.hpp"
#include "oracle/window/exact_stages.hpp"

namespace tally::oracle {
namespace {

long double nearest_float(long double x) { return static_cast<float>(static_cast<double>(x)); }

}  // namespace

Bounded constant(long double exact, long double margin) {
  const auto value = static_cast<double>(exact);
  const long double low = exact - nearest_float(exact - margin), high = nearest_float(exact + margin) - exact;
  return {value, static_cast<double>(std::max(std::fabs(low), std::fabs(high))) * inflation};
}

Bounded constant(long double exact) { return constant(exact, std::fabs(exact) * 0x1p-49L); }

Bounded constant(const Decimal& written) {
  const auto exact = number<long double>(written);
  const long double held = static_cast<float>(written.to_double());
  return {static_cast<double>(exact), static_cast<double>(std::fabs(held - exact)) * inflation};
}

Bounded derived_constant(const Declared& declared, long double exact, Bounded in_fp32, long double margin) {
  if (declared.claims.constants == "binary64") return constant(exact, margin);
  return {static_cast<double>(exact), in_fp32.e};
}

Bounded derived_constant(const Declared& declared, long double exact, Bounded in_fp32) {
  return derived_constant(declared, exact, in_fp32, std::fabs(exact) * 0x1p-49L);
}

Bounded reciprocal(const Declared& declared, double n) {
  return derived_constant(declared, 1 / static_cast<long double>(n), single().div({1, 0}, {n, 0}));
}

Complement complement_of_power(const Decimal& beta, long double times) {
  const long double power = std::pow(number<long double>(beta), times);
  return {1 - power, power * std::expm1((times + 4) * 0x1p-53L) / (1 - power) + 0x1p-49L};
}

long double of_inverse(long double relative) { return relative < 1 ? relative / (1 - relative) : infinite; }

Bounded one_minus(const Declared& declared, const Decimal& c) {
  const long double exact = 1 - number<long double>(c);
  const bool held = number<long double>(c) == c.to_double();
  return derived_constant(declared, exact, single().sub({1, 0}, constant(c)), held ? exact * 0x1p-52L : 0x1p-52L);
}

}  // namespace tally::oracle
