// x_r is what rank r hands over, R the number of ranks; + is rounded once to the format that travels,
// or to fp32, and then the sum once to that format.
// (rank_sum.1)  in_order, all_to_all: ((x_0 + x_1) + x_2) + ... + x_{R-1}
// (rank_sum.2)  ring: ((x_{i+1} + x_{i+2}) + ...) + x_i for the elements of chunk i, ranks modulo R
// (rank_sum.3)  recursive_doubling: with P the largest power of two <= R, first x_{2j} + x_{2j+1} for j < R - P; of
//               these and the ranks behind them, P in all, neighbours are added in pairs until one is left
#include <bit>
#include <stdexcept>

#include "oracle/window/rank_sums.hpp"

namespace tally::oracle {
namespace {

/// Leaves added one after another, from `first` on round the ranks.
RankAdditions one_after_another(int first, int ranks) {
  RankAdditions order{{}, first};
  for (int behind = 1; behind < ranks; ++behind) order.steps.emplace_back(first, (first + behind) % ranks);
  return order;
}

RankAdditions in_pairs(int ranks) {
  const int power = static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks))), too_many = ranks - power;
  RankAdditions order;
  std::vector<int> left;
  for (int rank = 0; rank < 2 * too_many; rank += 2) {
    order.steps.emplace_back(rank, rank + 1);
    left.push_back(rank);
  }
  for (int rank = 2 * too_many; rank < ranks; ++rank) left.push_back(rank);
  while (left.size() > 1) {
    std::vector<int> pairs;
    for (std::size_t i = 0; i < left.size(); i += 2) {
      order.steps.emplace_back(left[i], left[i + 1]);
      pairs.push_back(left[i]);
    }
    left = std::move(pairs);
  }
  order.sum = left.front();
  return order;
}

}  // namespace

bool claims_an_order(const std::string& algorithm) {
  return algorithm == "in_order" || algorithm == "all_to_all" || algorithm == "ring" ||
         algorithm == "recursive_doubling";
}

RankAdditions rank_additions(const std::string& algorithm, int ranks, int chunk) {
  if (algorithm == "in_order" || algorithm == "all_to_all") return one_after_another(0, ranks);
  if (algorithm == "ring") return one_after_another((chunk + 1) % ranks, ranks);
  if (algorithm == "recursive_doubling") return in_pairs(ranks);
  throw std::logic_error("a sum over ranks by '" + algorithm + "' claims no order");
}

}  // namespace tally::oracle
