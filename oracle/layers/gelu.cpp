#include "oracle/layers/contract.hpp"

namespace tally::gelu_contract {
namespace {

const RegisterContract registered{{.section = "layer",
                                   .kind = "gelu",
                                   .options = {{.name = "approximate",
                                                .type = OptionType::text,
                                                .standard = std::string("none"),
                                                .words = {"none", "tanh"}}},
                                   .definition = "none: y = x (1 + erf(x / sqrt 2)) / 2; "
                                                 "tanh: y = x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2",
                                   .kernels_by = "approximate"}};

}  // namespace
}  // namespace tally::gelu_contract
