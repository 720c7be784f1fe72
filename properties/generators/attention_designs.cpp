#include "properties/generators/attention_designs.hpp"

#include <array>

#include "oracle/case/grid_choice.hpp"
#include "properties/generators/choices.hpp"

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

}  // namespace tally
