#include "properties/generators/residual_norm_designs.hpp"

#include <array>

#include "oracle/case/grid_choice.hpp"
#include "properties/generators/choices.hpp"
#include "properties/generators/residual_blocks.hpp"

namespace tally {
namespace {

/// Features of the sum, and the rows of the two micro-batches. A warp takes a row from 33 features on; blocks hold 128
/// rows, or 4 of a warp's: one, several of which the last is full or cut, and strides.
struct ResidualNormSizes {
  std::int64_t features;
  std::array<std::int64_t, 2> rows;
  const char* most_blocks = "";
};

constexpr std::array<ResidualNormSizes, 5> residual_norm_sizes{
    {{2, {129, 256}}, {3, {130, 3}, "1"}, {64, {8, 5}}, {33, {5, 4}, "1"}, {777, {2, 2}}}};
static_assert(residual_norm_designs % residual_norm_sizes.size() == 0);

}  // namespace

void design_residual_norms(Plan& plan) {
  const ResidualNormSizes& size = residual_norm_sizes[plan.seed % residual_norm_sizes.size()];
  const bool plain = plan.seed / residual_norm_sizes.size() % 2 == 0;
  Layer beside = layer("linear", "fc2", {{"out", size.features}});
  beside.inputs = {"input"};
  plan.tokens = {};
  plan.input = 2;
  plan.outputs = 3;
  plan.output_bias = true;
  plan.hidden = {layer("linear", "fc1", {{"out", size.features}}), beside, sum_of("sum1", {"fc1", "fc2"}),
                 layer("rms_norm", "norm", {{"affine", plain}, {"offset", Decimal{plain ? "1" : "0"}}}),
                 sum_of("sum2", {"sum1", "norm"})};
  plan.windows = {{size.rows[0], size.rows[1]}};
  plan.loss = choice("loss", "cross_entropy");
  plan.ignored_percent = 0;
  plan.empty_micro_batch = false;
  plan.values.clear();
  plan.far_mean = false;
  plan.normalisation = Normalisation::window_items;
  auto& kernels = plan.execution.kernels;
  kernels = {{"add_norm", "fused"}, {"add_norm.backward", "fused"}};
  if (*size.most_blocks != 0) kernels[std::string(most_blocks_key)] = size.most_blocks;
  plan.execution.recompute = plan.seed % 3 == 0;
  plan.recomputes_some = plan.seed % 2 == 0;
}

}  // namespace tally
