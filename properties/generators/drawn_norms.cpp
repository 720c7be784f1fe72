#include "properties/generators/drawn_norms.hpp"

#include "kernels/device/executor/schedule.hpp"
#include "oracle/layers/contract.hpp"
#include "properties/generators/choices.hpp"

namespace tally {

std::vector<std::string> norms_of_rows() {
  std::vector<std::string> kinds;
  for (const Contract* contract : contracts_of("layer"))
    if (contract->norm && !contract->row_statistics.empty()) kinds.push_back(contract->kind);
  return kinds;
}

void draw_norms(Plan& plan) {
  constexpr std::uint64_t apart_of_kinds = 0x6c8e9cf5u;
  executor::Schedule random(plan.seed ^ apart_of_kinds);
  const std::vector<std::string> kinds = norms_of_rows();
  for (Layer& drawn : plan.hidden) {
    if (drawn.kind != "layer_norm") continue;
    const std::string& kind = kinds[random.below(kinds.size())];
    if (kind != drawn.kind) drawn = layer(kind, drawn.name, {{"affine", drawn.flag("affine")}});
  }
}

}  // namespace tally
