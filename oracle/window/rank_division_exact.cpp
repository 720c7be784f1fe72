// R is the number of ranks whose numbers a sum adds, f the case's factor, x_r what rank r hands over, s its sum; fl rounds to fp32, RN to the
// wire's format. A constant is the float nearest to it.
// (rank_division.1)  before: RN(fl(x_r fl(1 / R))), summed
// (rank_division.2)  after: the sum, then RN(fl(s fl(1 / R)))
// (rank_division.3)  split: RN(fl(x_r fl(1 / f))), summed, then RN(fl(s fl(f / R)))
// (rank_division.4)  collective: RN(fl(x_r RN(1 / R))), summed
// Each leaves the mean of the x_r, so that the factor of a loss is R times as large. With loss and unscale the sum stands
// as it is.
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/tolerance/format.hpp"
#include "oracle/window/rank_stages.hpp"

namespace tally::oracle {
namespace {

RankFactor nearest_float(long double exact) { return {exact, static_cast<float>(static_cast<double>(exact))}; }

}  // namespace

RankDivision rank_division(const Case& c, std::size_t added) {
  const std::string& word = rank_word(c, "reduce.divide");
  const auto ranks = static_cast<long double>(added);
  if (word == "before") return {nearest_float(1 / ranks), {}};
  if (word == "after") return {{}, nearest_float(1 / ranks)};
  if (word == "collective") {
    const double stored = rounded(format_of(wire_of(c)), static_cast<double>(1 / ranks));
    return {RankFactor{1 / ranks, static_cast<float>(stored)}, {}};
  }
  if (word == "split") {
    const long double factor = std::get<Decimal>(rank_option(c, "reduce.factor")).to_double();
    return {nearest_float(1 / factor), nearest_float(factor / ranks)};
  }
  return {};
}

RankDivision rank_division(const Case& c) { return rank_division(c, ranks_of(whole_of(c))); }

long double rank_multiple(const Case& c) {
  return rank_division(c).around_the_sum() ? static_cast<long double>(ranks_of(whole_of(c))) : 1;
}

}  // namespace tally::oracle
