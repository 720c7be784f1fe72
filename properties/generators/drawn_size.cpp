#include "properties/generators/drawn_size.hpp"

#include <algorithm>
#include <vector>

#include "oracle/case/sizes.hpp"

namespace tally {

std::int64_t drawn_size(std::string_view name, executor::Schedule& random, std::int64_t most, std::int64_t least) {
  constexpr std::uint64_t small = 4;
  const std::int64_t first = std::max(least, declared_size(name).least);
  const bool is_small = random.below(2) == 0;
  const std::uint64_t more = random.below(small), at = random.next();
  std::vector<std::int64_t> values = values_around_edges(name);
  std::erase_if(values, [&](std::int64_t value) { return value < first || value > most; });
  if (is_small || values.empty()) return std::min(most, first + static_cast<std::int64_t>(more));
  return values[at % values.size()];
}

}  // namespace tally
