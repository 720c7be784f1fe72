// A fault with a knob: every weight gradient of a linear layer is multiplied by 1 + theta before it is stored. For
// measuring how small a wrong factor is still seen; it is no row of the catalogue.
#pragma once

#include "kernels/training_step/stages.hpp"

namespace tally {

/// The shipped stages with that factor in the product's epilogue. The factor holds for this process, until the next
/// call. The stages live as long as the program.
const Stages& with_scaled_weight_gradients(double theta);

}  // namespace tally
