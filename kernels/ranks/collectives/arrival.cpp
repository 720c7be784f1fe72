// Rank 0 adds the others' numbers to its own as they come, and hands everyone the sum.
#include <algorithm>
#include <numeric>

#include "kernels/ranks/all_reduce.hpp"

namespace tally::arrival {
namespace {

void arrival(Addends& addends) {
  if (addends.leaves_sum_to(0)) return;
  std::vector<int> missing(static_cast<std::size_t>(addends.ranks() - 1));
  std::iota(missing.begin(), missing.end(), 1);
  while (!missing.empty()) std::erase(missing, addends.receive_first_and_add(missing, addends.all()));
  addends.hand_out();
}

const RegisterAllReduce registered("arrival", arrival);

}  // namespace
}  // namespace tally::arrival
