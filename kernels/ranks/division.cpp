#include "kernels/ranks/division.hpp"

#include "oracle/case/float_bits.hpp"
#include "oracle/case/rank_keys.hpp"

namespace tally {
namespace {

float stored_in(Dtype format, double value) {
  return static_cast<float>(float_value_of(format, float_bits_of(format, value)));
}

}  // namespace

RankDivision rank_division(const Case& c, std::size_t ranks) {
  const std::string& word = rank_word(c, "reduce.divide");
  const double all = static_cast<double>(ranks);
  if (word == "loss") return {};
  if (word == "unscale") return {.when_unscaling = true};
  RankDivision division{.multiple = all, .around_the_sum = true};
  if (word == "before") division.front = static_cast<float>(1 / all);
  if (word == "after") division.behind = static_cast<float>(1 / all);
  if (word == "collective") division.front = stored_in(wire_of(c), 1 / all);
  if (word == "split") {
    const double factor = std::get<Decimal>(rank_option(c, "reduce.factor")).to_double();
    division.front = static_cast<float>(1 / factor);
    division.behind = static_cast<float>(factor / all);
  }
  return division;
}

}  // namespace tally
