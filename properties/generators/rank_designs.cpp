#include "properties/generators/rank_designs.hpp"

#include <array>

#include "oracle/case/formats.hpp"
#include "oracle/case/grid_choice.hpp"
#include "oracle/case/rank_keys.hpp"
#include "properties/generators/choices.hpp"

namespace tally {
namespace {

/// A linear layer whose parameters, padded to a multiple of the four ranks times `align`, are as many elements.
struct Bucket {
  std::int64_t input, outputs, align;
  const char* most_blocks = "";
};
constexpr std::array<Bucket, 5> buckets{{{4, 8, 16},          // 64: one block, full
                                         {4, 8, 1},           // 40: its last warp cut
                                         {16, 32, 64},        // 768, its weight 512: several blocks, the last one full
                                         {16, 20, 1},         // 340: the last one cut
                                         {16, 20, 1, "1"}}};  // strides over the grid

/// Every parameter's gradients, divided in front of the sum: each is one launch.
void travel_by_themselves(Plan& plan) {
  plan.execution.kernels.erase("linear.weight_gradient");
  set_rank_option(plan.execution, "communicate", std::string("micro_batch"));
  set_rank_option(plan.execution, "reduce.divide", std::string("before"));
  set_rank_option(plan.execution, "reduce.factor", Decimal{"0"});
}

}  // namespace

void design_ranks(Plan& plan) {
  const std::uint64_t number = plan.seed % rank_designs;
  const Bucket& bucket = buckets[number % buckets.size()];
  const std::vector<Dtype>& formats = storage_formats();
  plan.precision.accumulate = formats[number / buckets.size() % formats.size()];
  plan.tokens = {};
  plan.input = bucket.input;
  plan.outputs = bucket.outputs;
  plan.output_bias = true;
  plan.hidden.clear();
  plan.loss = choice("loss", "mse");
  plan.ignored_percent = 0;
  plan.empty_micro_batch = false;
  plan.windows = {{2, 1, 3, 2, 1}};
  plan.ranks = 4;
  plan.next_ranks = 0;
  set_rank_option(plan.execution, "replicas", std::int64_t{1});
  set_rank_option(plan.execution, "reduce.accumulate", std::string("wire"));
  plan.execution.kernels.erase(std::string(most_blocks_key));
  if (*bucket.most_blocks != '\0') plan.execution.kernels[std::string(most_blocks_key)] = bucket.most_blocks;
  if (number >= rank_designs / 2) travel_by_themselves(plan);
  set_rank_option(plan.execution, "buckets.elements", std::int64_t{0});
  set_rank_option(plan.execution, "buckets.align", bucket.align);
}

}  // namespace tally
