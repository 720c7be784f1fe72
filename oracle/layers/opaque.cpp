#include "oracle/layers/contract.hpp"

namespace tally::opaque_contract {
namespace {

/// `out` columns of outputs, which a loss reads where a capture has them.
const RegisterContract registered{
    {.section = "layer",
     .kind = "opaque",
     .options = {{.name = "out", .type = OptionType::integer, .standard = std::int64_t{1}, .range = {.at_least = "1"}},
                 {.name = "tensors", .type = OptionType::shapes, .standard = std::nullopt}},
     .parameters_by = "tensors",
     .opaque = true,
     .drawn = false,
     .out_features = [](const Choice& layer, std::int64_t) { return layer.integer("out"); },
     .definition = "not stated: a capture's outputs and gradients stand for it"}};

}  // namespace
}  // namespace tally::opaque_contract
