#include "properties/generators/micro_step_designs.hpp"

#include <array>

#include "oracle/case/grid_choice.hpp"
#include "oracle/case/rank_keys.hpp"
#include "properties/generators/choices.hpp"

namespace tally {
namespace {

/// Features of the layer, rows of one of two micro-batches; eight threads share a column from 64 rows on.
struct MicroStepSizes {
  std::int64_t features, rows;
  const char* most_blocks = "";
};
constexpr std::array<MicroStepSizes, 10> micro_step_sizes{{{32, 64},  // one block, full; a column's last stride too
                                                           {5, 67},   // cut
                                                           {64, 72},  // several blocks of columns, full
                                                           {33, 65},  // the last one cut
                                                           {32, 3},   // one thread a column
                                                           {5, 3},    //
                                                           {512, 2},  // several blocks of features, full
                                                           {300, 2},  // the last one cut
                                                           {300, 2, "1"},  // strides over the grid
                                                           {3, 37}}};      // a lane of a column's last rows
constexpr std::array<const char*, 3> ways{"sums", "moments", "two_pass"};
static_assert(micro_step_sizes.size() * ways.size() == micro_step_designs);

}  // namespace

void design_micro_steps(Plan& plan) {
  const std::uint64_t number = plan.seed % micro_step_designs;
  const MicroStepSizes& size = micro_step_sizes[number % micro_step_sizes.size()];
  plan.tokens = {};
  plan.input = 2;
  plan.outputs = 2;
  plan.output_bias = true;
  plan.hidden = {
      layer("linear", "fc1", {{"out", size.features}}),
      layer("batch_norm", "norm1", {{"statistics", std::string("micro_step")}, {"affine", plan.seed % 5 != 0}})};
  plan.loss = choice("loss", "mse");
  plan.ignored_percent = 0;
  plan.empty_micro_batch = false;
  plan.normalisation = Normalisation::window_items;
  plan.windows = {{size.rows, 2}};
  plan.ranks = 2;
  plan.next_ranks = 0;
  set_rank_option(plan.execution, "replicas", std::int64_t{1});
  set_rank_option(plan.execution, "statistics", std::string(ways[number / micro_step_sizes.size()]));
  plan.execution.kernels.erase(std::string(most_blocks_key));
  if (*size.most_blocks != '\0') plan.execution.kernels[std::string(most_blocks_key)] = size.most_blocks;
}

}  // namespace tally
