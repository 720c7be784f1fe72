#include "oracle/layers/contract.hpp"

namespace tally::gated_contract {
namespace {

const RegisterContract registered{{.section = "layer",
                                   .kind = "gated",
                                   .options = {{.name = "activation",
                                                .type = OptionType::text,
                                                .standard = std::string("silu"),
                                                .words = {"silu", "gelu", "gelu_tanh"}}},
                                   .drawn = false,
                                   .least_inputs = 2,
                                   .most_inputs = 2,
                                   .input_words = {"gate", "up"},
                                   .definition = "y = activation(gate) * up, element by element",
                                   .kernels_by = "activation"}};

}  // namespace
}  // namespace tally::gated_contract
