// Designs for the kernels of attention, heads, tables, and ranks.
#include <array>

#include "oracle/case/rank_keys.hpp"
#include "oracle/case/sizes.hpp"
#include "oracle/case/tensors/tensor.hpp"
#include "properties/generators/choices.hpp"
#include "properties/generators/launch_designs.hpp"

namespace tally {
namespace {

/// Heads of q, heads of k and v, and the rows of the two micro-batches. Blocks hold 256 threads, one a row and head:
/// one full or cut, several of which the last is full or cut, and strides, of two turns and of more.
struct AttentionSizes {
  std::int64_t heads, groups;
  std::array<std::int64_t, 2> rows;
  const char* most_blocks = "";
};

constexpr std::array<AttentionSizes, 5> attention_sizes{
    {{1, 1, {32, 5}}, {1, 1, {512, 300}}, {2, 1, {256, 100}, "1"}, {2, 2, {16, 150}}, {4, 2, {160, 3}, "1"}}};

struct AttentionVariants {
  const char *forward, *backward;
};
constexpr std::array<AttentionVariants, 7> attention_variants{{{"naive", "naive"},
                                                               {"online_blocks", "recompute_blocks"},
                                                               {"online_pairs", "recompute_cast"},
                                                               {"eager", "naive"},
                                                               {"online_cast", "recompute_cast"},
                                                               {"online_cast_sum", "recompute_blocks"},
                                                               {"online_exp2", "recompute_atomic"}}};
static_assert(attention_sizes.size() * attention_variants.size() == attention_designs);

}  // namespace

void design_attention(Plan& plan) {
  const AttentionSizes& size = attention_sizes[plan.seed % attention_sizes.size()];
  const AttentionVariants& variant = attention_variants[plan.seed / attention_sizes.size() % attention_variants.size()];
  constexpr std::int64_t features = 2;
  plan.input = plan.outputs = 3;
  plan.tokens = {.width = 2, .longest = 3, .positions = false};
  const auto linear = [](const char* name, std::int64_t out) {
    Layer made = layer("linear", name, {{"out", out}, {"bias", false}});
    made.inputs = {"wte"};
    return made;
  };
  const Decimal dropped{plan.seed % 2 == 0 ? "0" : "0.25"};
  Layer attention = layer("attention", "att", {{"heads", size.heads}, {"kv_heads", size.groups}, {"p", dropped}});
  attention.inputs = {"q", "k", "v"};
  plan.hidden = {linear("q", size.heads * features), linear("k", size.groups * features),
                 linear("v", size.groups * features), attention};
  plan.windows = {{size.rows[0], size.rows[1]}};
  plan.loss = choice("loss", "cross_entropy", {{"shift", true}});
  plan.ignored_percent = 0;
  plan.empty_micro_batch = false;
  plan.values.clear();
  plan.normalisation = Normalisation::window_items;
  auto& kernels = plan.execution.kernels;
  kernels = {{"attention.forward", variant.forward}, {"attention.backward", variant.backward}};
  if (*size.most_blocks != 0) kernels[std::string(most_blocks_key)] = size.most_blocks;
  plan.execution.recompute = false;
}

namespace {

/// The vocabulary, the width, and the rows of the two micro-batches. A chunk has four rows, a warp takes a row from 33
/// classes on, and blocks hold 256 elements, of a chunk's rows times vocabulary or width, of vocabulary times width, or
/// of the vocabulary: one full or cut, several of which the last is full or cut, and strides, of two turns and of more.
struct HeadSizes {
  std::int64_t vocabulary, width;
  std::array<std::int64_t, 2> rows;
  const char* most_blocks = "";
};

constexpr std::array<HeadSizes, 6> head_sizes{{{32, 8, {4, 5}},
                                               {3, 3, {8, 2}},
                                               {33, 128, {6, 3}},
                                               {512, 100, {4, 2}},
                                               {777, 70, {5, 2}, "1"},
                                               {300, 1, {5, 2}, "1"}}};
constexpr std::uint64_t forms = head_designs / head_sizes.size();

}  // namespace

void design_head(Plan& plan) {
  const HeadSizes& size = head_sizes[plan.seed % head_sizes.size()];
  const bool plain = plan.seed / head_sizes.size() % forms == 0;
  plan.input = plan.outputs = size.vocabulary;
  plan.output_bias = true;
  plan.tokens = {.width = size.width, .longest = 2, .tied = !plain};
  plan.hidden.clear();
  plan.windows = {{size.rows[0], size.rows[1]}};
  plan.loss = choice("loss", "cross_entropy",
                     {{"shift", plain}, {"label_smoothing", Decimal{plain ? "0" : "0.1"}}, {"z_loss", Decimal{"0"}}});
  plan.ignored_percent = 0;
  plan.empty_micro_batch = false;
  plan.values.clear();
  plan.normalisation = Normalisation::window_items;
  auto& kernels = plan.execution.kernels;
  kernels = {{"head_loss", "chunked"}};
  if (*size.most_blocks != 0) kernels[std::string(most_blocks_key)] = size.most_blocks;
  plan.execution.recompute = false;
}

namespace {

/// The vocabulary, the width, and the rows of the two micro-batches. Blocks hold 256 elements, of rows times width, of
/// rows, or of vocabulary times width: one full or cut, several of which the last is full or cut, and strides.
struct LookUpSizes {
  std::int64_t vocabulary, width;
  std::array<std::int64_t, 2> rows;
  const char* most_blocks = "";
};

constexpr std::array<LookUpSizes, 5> look_up_sizes{
    {{4, 8, {32, 5}}, {3, 1, {512, 300}}, {300, 1, {300, 2}, "1"}, {256, 2, {2, 2}}, {100, 3, {3, 2}}}};
constexpr std::array look_up_variants{"sorted", "atomic_add"};
static_assert(look_up_sizes.size() * look_up_variants.size() == look_up_designs);

}  // namespace

void design_look_ups(Plan& plan) {
  const LookUpSizes& size = look_up_sizes[plan.seed % look_up_sizes.size()];
  plan.input = plan.outputs = size.vocabulary;
  plan.tokens = {.width = size.width, .longest = 2, .positions = true};
  plan.hidden.clear();
  plan.windows = {{size.rows[0], size.rows[1]}};
  plan.loss = choice("loss", "cross_entropy", {{"shift", true}, {"z_loss", Decimal{"0.01"}}});
  plan.ignored_percent = 0;
  plan.empty_micro_batch = false;
  plan.values.clear();
  plan.normalisation = Normalisation::window_items;
  auto& kernels = plan.execution.kernels;
  kernels = {{"embedding.gradient", look_up_variants[plan.seed / look_up_sizes.size() % look_up_variants.size()]}};
  if (*size.most_blocks != 0) kernels[std::string(most_blocks_key)] = size.most_blocks;
  plan.execution.recompute = false;
}

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
