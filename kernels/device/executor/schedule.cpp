#include "kernels/device/executor/schedule.hpp"

#include <algorithm>
#include <cstddef>

namespace tally::executor {
namespace {

std::vector<Preemption> without(const std::vector<Preemption>& all, std::size_t begin, std::size_t end) {
  std::vector<Preemption> rest(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(begin));
  rest.insert(rest.end(), all.begin() + static_cast<std::ptrdiff_t>(end), all.end());
  return rest;
}

}  // namespace

std::vector<Preemption> fewest_preemptions(std::vector<Preemption> all, int attempts,
                                           const std::function<bool(const std::vector<Preemption>&)>& fails) {
  for (std::size_t piece = all.size(); piece > 0;) {
    bool smaller = false;
    for (std::size_t begin = 0; begin < all.size() && attempts > 0;) {
      --attempts;
      std::vector<Preemption> fewer = without(all, begin, std::min(begin + piece, all.size()));
      if (fails(fewer)) {
        all = std::move(fewer);
        smaller = true;
      } else {
        begin += piece;
      }
    }
    if (attempts <= 0) break;
    if (!smaller || piece > all.size()) piece = std::min(piece / 2, std::max<std::size_t>(all.size(), 1));
    if (all.empty()) break;
  }
  return all;
}

}  // namespace tally::executor
