// What training starts from in practice: inputs and initial parameters, as families of drawings. Plan::values names
// both, "pytorch/unit"; without a slash it names a family of x alone.
#pragma once

#include <string>
#include <vector>

#include "oracle/layers/contract.hpp"
#include "properties/generators/plan.hpp"

namespace tally {

/// "pytorch"     linear layers uniform within 1/√fan-in, weights and biases (kaiming_uniform with a = √5); norms 1 and
/// 0 "he"          linear weights normal with variance 2/fan-in, biases 0; norms 1 and 0 "constant"    every linear
/// weight 1/100, biases 0; norms 1 and 0: all elements of a tensor are the same "near_one"    linear layers as in
/// PyTorch, norms between 1/2 and 3/2 and biases of them in [-1, 1): in mid-training
const std::vector<std::string>& initialisations();

/// One of those, or empty: parameters are drawn by their role.
std::string initialisation_of(const Plan& plan);
/// A family of drawings, "one_hot" over all columns, "digits", or empty: normal values.
std::string input_of(const Plan& plan);

/// The family of one tensor of a layer that `features` enter. Running means begin at 0, variances at 1.
std::string initial_family(const std::string& initialisation, const Layer& layer, const LayerTensor& tensor,
                           std::int64_t features);

}  // namespace tally
