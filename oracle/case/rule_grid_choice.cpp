#include "oracle/case/gemm_choices.hpp"
#include "oracle/case/grid_choice.hpp"
#include "oracle/case/json.hpp"
#include "oracle/case/rules.hpp"

namespace tally {

std::int64_t most_blocks_of(const Case& c) {
  const auto found = c.execution.kernels.find(std::string(most_blocks_key));
  return found == c.execution.kernels.end() ? 0 : gemm_choice_number(found->second).value_or(0);
}

void check_grid_choice(const Case& c, Findings& findings) {
  const auto found = c.execution.kernels.find(std::string(most_blocks_key));
  if (found == c.execution.kernels.end() || most_blocks_of(c) > 0) return;
  findings.add(member_path("$.execution.kernels", std::string(most_blocks_key)), json_string(found->second),
               "a whole number >= 1 as text");
}

}  // namespace tally
