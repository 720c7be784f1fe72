#include <array>

#include "kernels/device/blas.hpp"
#include "kernels/device/executor/schedule.hpp"

namespace tally {

GemmOrder GemmOrder::draw(std::uint64_t seed) {
  if (seed == 0) return {};
  constexpr std::array kinds{Kind::sequential_fma, Kind::sequential_mul_add, Kind::pairwise, Kind::chunked,
                             Kind::split_k};
  executor::Schedule random(seed);
  const Kind kind = kinds[random.below(kinds.size())];
  if (kind == Kind::chunked) return {kind, static_cast<std::int64_t>(2 + random.below(63))};
  if (kind == Kind::split_k) return {kind, static_cast<std::int64_t>(2 + random.below(7))};
  return {kind, 0};
}

std::string to_string(const GemmOrder& order) {
  const std::string parameter = "(" + std::to_string(order.parameter) + ")";
  switch (order.kind) {
    case GemmOrder::Kind::sequential_fma:
      return "sequential_fma";
    case GemmOrder::Kind::sequential_mul_add:
      return "sequential_mul_add";
    case GemmOrder::Kind::pairwise:
      return "pairwise";
    case GemmOrder::Kind::chunked:
      return "chunked" + parameter;
    case GemmOrder::Kind::split_k:
      return "split_k" + parameter;
    case GemmOrder::Kind::tensor_core_v100:
      return "tensor_core_v100";
    case GemmOrder::Kind::tensor_core_a100:
      return "tensor_core_a100";
    case GemmOrder::Kind::tensor_core_h100:
      return "tensor_core_h100";
  }
  return "unknown order";
}

}  // namespace tally
