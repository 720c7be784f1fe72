#include "oracle/case/limits.hpp"
#include "oracle/layers/contract.hpp"

namespace tally::add_contract {
namespace {

const RegisterContract registered{{.section = "layer",
                                   .kind = "add",
                                   .options = {},
                                   .drawn = false,
                                   .least_inputs = 2,
                                   .most_inputs = most_layer_inputs,
                                   .hands_gradient_on = true,
                                   .definition = "y = the sum of its inputs, in the order of their list"}};

}  // namespace
}  // namespace tally::add_contract
