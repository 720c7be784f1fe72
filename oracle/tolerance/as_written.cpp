#include "oracle/tolerance/as_written.hpp"

#include "oracle/recipe/recipe_rules.hpp"
#include "oracle/tolerance/rule.hpp"

namespace tally::oracle {

bool as_written(const Declared& declared, std::string_view operation) {
  return claim_of(declared, operation).as_written;
}

float held(const Decimal& written) { return static_cast<float>(written.to_double()); }

HeldConstant held(const Declared& declared, long double exact, long double margin) {
  if (declared.claims.constants != "binary64") return {};
  const auto low = static_cast<float>(static_cast<double>(exact - margin));
  const auto high = static_cast<float>(static_cast<double>(exact + margin));
  return low == high ? HeldConstant(low) : std::nullopt;
}

HeldConstant held_one_minus(const Declared& declared, const Decimal& c) {
  return held(declared, 1 - number<long double>(c), 0x1p-52L);
}

long double margin_of_rate(const Choice& schedule, long double exact, std::int64_t step) {
  const ScheduleRules& rules = schedule_rules(schedule);
  return rules.is_written ? std::fabs(exact) * 0x1p-53L : rules.rate(schedule, exact, step).margin;
}

Expected known(const Matrix<float>& bits) {
  return {bits.cast<long double>(), Matrix<double>::Zero(bits.rows(), bits.cols())};
}

}  // namespace tally::oracle
