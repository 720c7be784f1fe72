// What plans are drawn with: sizes, norms, options away from their usual values, elementwise layers, optimizers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/device/executor/schedule.hpp"
#include "oracle/case/case.hpp"
#include "properties/generators/plan.hpp"

namespace tally {

// Declared sizes (oracle/case/sizes.hpp), as generators draw them.

/// A value of the size that `name` declares, at most `most`: in one draw of two a small one, else one below, at or above
/// an edge. At least `least`, or the size's own least where that is more. Throws std::logic_error for a name that nobody
/// declares.
std::int64_t drawn_size(std::string_view name, executor::Schedule& random, std::int64_t most, std::int64_t least = 0);

// Norms of every kind, where plans are drawn with one.

/// The kinds that normalise each row by itself: "layer_norm", "rms_norm".
std::vector<std::string> norms_of_rows();

/// Every layer_norm of the plan becomes any of those kinds, as the plan's seed draws.
void draw_norms(Plan& plan);

// Options away from their usual values: what a kernel has hard-coded shows in no case that leaves them there.

/// Gives one in four options of every choice of the plan a value of its contract (choices.hpp) where the case
/// stays legal; follows from the plan's seed.
void draw_options(Plan& plan);

/// What a law has made of the plan: class weights for as many outputs as there are now, and no pass over all
/// parameters that has no step for the optimizer.
void fit_options(Plan& plan);

// The elementwise layers there are, from the registry of kernels and the contracts.

/// Every layer whose kernels take ActivationArguments, once for each word that chooses between kernels: gelu by erf and
/// gelu by tanh. Those that the generators knew first keep their places, so that cases stay as they were drawn; others
/// follow by name.
const std::vector<Layer>& activations();

/// The same by kind: the forms that each of them has.
struct ActivationForms {
  std::string kind;
  std::vector<Layer> forms;
};
const std::vector<ActivationForms>& activations_by_kind();

/// What gates go by, from the contract: "silu", "gelu", "gelu_tanh".
const std::vector<std::string>& gate_activations();

// The optimizers that are drawn beside SGD and Adam, from their contracts.

/// Every other kind, by name: those two are drawn with options of their own, and keep their places in what is drawn.
const std::vector<std::string>& further_optimizers();

}  // namespace tally
