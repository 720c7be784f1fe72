#include "oracle/layers/contract.hpp"

namespace tally::linear_contract {
namespace {

std::vector<std::int64_t> weight_shape(const Choice& layer, std::int64_t features) {
  return {layer.integer("out"), features};
}
std::vector<std::int64_t> bias_shape(const Choice& layer, std::int64_t) { return {layer.integer("out")}; }

const RegisterContract registered{
    {.section = "layer",
     .kind = "linear",
     .options = {{.name = "out", .type = OptionType::integer, .standard = std::nullopt, .range = {.at_least = "1"}},
                 {.name = "bias", .type = OptionType::boolean, .standard = true}},
     .tensors = {{.name = "weight", .role = Role::parameter, .shape = weight_shape},
                 {.name = "bias",
                  .role = Role::parameter,
                  .shape = bias_shape,
                  .present = [](const Choice& layer) { return layer.flag("bias"); }}},
     .tied_sets = "out",
     .out_features = [](const Choice& layer, std::int64_t) { return layer.integer("out"); },
     .definition = "y = x W^T + b"}};

}  // namespace
}  // namespace tally::linear_contract
