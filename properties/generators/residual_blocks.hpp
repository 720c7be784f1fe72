// Residual blocks of a plan: what an earlier layer left, added to what later ones made of it. And taking layers out of
// a model whose layers read others by name.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "properties/generators/plan.hpp"

namespace tally {

/// The sum of what these layers leave.
Layer sum_of(std::string name, std::vector<std::string> inputs);

/// Behind the hidden layers of one plan in four: one or two blocks, as the plan's seed draws. Outputs are read by two
/// and by three layers, sums are of two and of three, and a sum may take one output twice.
void draw_residual_blocks(Plan& plan);

/// Layer i is left out: who reads it by name reads what it read, of a sum the last.
void take_out(std::vector<Layer>& layers, std::size_t i);
/// The same for every layer that `leaves`.
void take_out_if(std::vector<Layer>& layers, const std::function<bool(const Layer&)>& leaves);

}  // namespace tally
