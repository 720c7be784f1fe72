#include "properties/generators/look_up_designs.hpp"

#include <array>

#include "oracle/case/grid_choice.hpp"
#include "properties/generators/choices.hpp"

namespace tally {
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

}  // namespace tally
