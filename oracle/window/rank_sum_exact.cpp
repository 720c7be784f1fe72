// x_r is what rank r hands over, R the number of ranks; + is rounded once to the format that travels,
// or to fp32, and then the sum once to that format.
// (rank_sum.1)  in_order, all_to_all: ((x_0 + x_1) + x_2) + ... + x_{R-1}
// (rank_sum.2)  ring: ((x_{i+1} + x_{i+2}) + ...) + x_i for the elements of chunk i, ranks modulo R
// (rank_sum.3)  recursive_doubling: with P the largest power of two <= R, first x_{2j} + x_{2j+1} for j < R - P; of
//               these and the ranks behind them, P in all, neighbours are added in pairs until one is left
// (rank_sum.4)  recursive_halving: the same P numbers, but the first half + the second, number by number, until one is
//               left
// (rank_sum.5)  tree: rank r's sum is (x_r + that of rank 2r + 1) + that of rank 2r + 2, where there are such ranks
#include <algorithm>
#include <bit>
#include <map>
#include <stdexcept>

#include "oracle/window/rank_stages.hpp"

namespace tally::oracle {
namespace {

/// Leaves added one after another, from `first` on round the ranks.
RankAdditions one_after_another(int first, int ranks) {
  RankAdditions order{{}, first};
  for (int behind = 1; behind < ranks; ++behind) order.steps.emplace_back(first, (first + behind) % ranks);
  return order;
}

/// The ranks that are left, a power of two, once those that are too many have been added to their neighbours.
std::vector<int> folded(int ranks, RankAdditions& order) {
  const int power = static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks))), too_many = ranks - power;
  std::vector<int> left;
  for (int rank = 0; rank < 2 * too_many; rank += 2) {
    order.steps.emplace_back(rank, rank + 1);
    left.push_back(rank);
  }
  for (int rank = 2 * too_many; rank < ranks; ++rank) left.push_back(rank);
  return left;
}

RankAdditions in_pairs(int ranks) {
  RankAdditions order;
  std::vector<int> left = folded(ranks, order);
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

RankAdditions in_halves(int ranks) {
  RankAdditions order;
  std::vector<int> left = folded(ranks, order);
  while (left.size() > 1) {
    const std::size_t half = left.size() / 2;
    for (std::size_t i = 0; i < half; ++i) order.steps.emplace_back(left[i], left[half + i]);
    left.resize(half);
  }
  order.sum = left.front();
  return order;
}

RankAdditions up_a_tree(int ranks) {
  RankAdditions order;
  for (int rank = ranks - 1; rank >= 0; --rank)
    for (int child = 2 * rank + 1; child <= 2 * rank + 2 && child < ranks; ++child)
      order.steps.emplace_back(rank, child);
  return order;
}

}  // namespace

bool claims_an_order(const std::string& algorithm) {
  return algorithm == "in_order" || algorithm == "all_to_all" || algorithm == "ring" ||
         algorithm == "recursive_doubling" || algorithm == "recursive_halving" || algorithm == "tree";
}

RankAdditions rank_additions(const std::string& algorithm, int ranks, int chunk) {
  if (algorithm == "in_order" || algorithm == "all_to_all") return one_after_another(0, ranks);
  if (algorithm == "ring") return one_after_another((chunk + 1) % ranks, ranks);
  if (algorithm == "recursive_doubling") return in_pairs(ranks);
  if (algorithm == "recursive_halving") return in_halves(ranks);
  if (algorithm == "tree") return up_a_tree(ranks);
  throw std::logic_error("a sum over ranks by '" + algorithm + "' claims no order");
}

int height_of(const RankAdditions& order) {
  std::map<int, int> passed;
  for (const auto& [to, from] : order.steps) passed[to] = std::max(passed[to], passed[from]) + 1;
  const auto found = passed.find(order.sum);
  return found == passed.end() ? 0 : found->second;
}

}  // namespace tally::oracle
