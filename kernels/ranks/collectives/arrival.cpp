// Rank 0 adds the others' numbers to its own as they come, and hands everyone the sum.
#include <algorithm>
#include <numeric>

#include "kernels/ranks/all_reduce.hpp"

namespace tally {
namespace {

void arrival(Addends& addends) {
  constexpr int root = 0;
  if (addends.rank() != root) {
    addends.send(root, addends.all());
    addends.receive(root, addends.needed(addends.rank()));
    return;
  }
  std::vector<int> missing(static_cast<std::size_t>(addends.ranks() - 1));
  std::iota(missing.begin(), missing.end(), 1);
  while (!missing.empty()) std::erase(missing, addends.receive_first_and_add(missing, addends.all()));
  for (int to = 1; to < addends.ranks(); ++to) addends.send(to, addends.needed(to));
}

const RegisterAllReduce registered("arrival", arrival);

}  // namespace
}  // namespace tally
