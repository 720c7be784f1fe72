// Sums over ranks: in which order each algorithm adds, (rank_sum.1) to (rank_sum.5), the bits that follow, and the bound
// where no order is claimed. Written from the definitions of oracle/ranks.md, never from the code of a collective. Their
// heights stand there too.
// Defined in rank_sum_exact.cpp, rank_sums.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "oracle/case/shards.hpp"
#include "oracle/tolerance/expected.hpp"
#include "oracle/tolerance/rule.hpp"

namespace tally::oracle {

/// values[first] += values[second], one after another, of R leaves; the sum is then values[sum].
struct RankAdditions {
  std::vector<std::pair<int, int>> steps;
  int sum = 0;
};
/// The additions of an element in this chunk; no other algorithm than the ring asks. Throws std::logic_error for an
/// algorithm that claims no order.
RankAdditions rank_additions(const std::string& algorithm, int ranks, int chunk);
/// The most additions that a leaf passes through.
int height_of(const RankAdditions& order);
/// Whether the word claims an order.
bool claims_an_order(const std::string& algorithm);

/// To what every addition is rounded: the format that travels, or fp32, whose sum is then stored in that format.
enum class RankRounding { each, once };
RankRounding rank_rounding(const Case& c);

/// The bits of a sum of what all ranks handed over, in their order, where the claim of `reduce` fixes them.
std::optional<Matrix<float>> rounded_over_ranks(const Declared& declared, const PlaceInBucket& place,
                                                const std::vector<Matrix<float>>& addends,
                                                RankRounding rounding = RankRounding::each);
/// The sum with the bound of any order.
Expected summed_in_any_order(const Declared& declared, const std::vector<const Expected*>& addends,
                             RankRounding rounding = RankRounding::each);
/// The sum with its bound: of the claimed order, else of any.
Expected summed_over_ranks(const Declared& declared, const PlaceInBucket& place,
                           const std::vector<const Expected*>& addends, RankRounding rounding = RankRounding::each);

}  // namespace tally::oracle
