#include "properties/generators/head_designs.hpp"

#include <array>

#include "oracle/case/grid_choice.hpp"
#include "properties/generators/choices.hpp"

namespace tally {
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

}  // namespace tally
