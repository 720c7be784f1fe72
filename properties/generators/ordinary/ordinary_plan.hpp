// Plans of ordinary networks: what a reader of PyTorch's tutorials would train, at the sizes, with the initial values,
// inputs and recipes of such code. Nothing in them is chosen to hurt.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "properties/generators/plan.hpp"

namespace tally {

/// Widths of the hidden layers, and what goes with them: layers, rows, windows.
enum class OrdinarySize {
  small,      // 10 to 64, two to six linear layers, batches of 4 to 64 rows, up to three windows
  medium,     // 96 to 256, two to four
  large,      // 300 to 512, two or three, up to 16 rows
  true_size,  // weights of 10^5 to 10^6 elements, one or two layers, up to 8 rows, one window
  huge        // one stage after another on 10^7 elements: a weight, or the features of 10^4 rows
};

std::string name_of(OrdinarySize size);

/// Everything but size and storage is drawn from the seed. Input, initial values and structure go together as they do
/// in practice; buffers, masters and accumulators of other formats come in one plan of four.
Plan ordinary_plan(Dtype storage, OrdinarySize size, std::uint64_t seed);

/// What evidence is counted by: {"structure", "layer_norm"}, {"optimizer", "adam, decoupled"}, …
std::vector<std::pair<std::string, std::string>> traits_of(const Plan& plan);

}  // namespace tally
