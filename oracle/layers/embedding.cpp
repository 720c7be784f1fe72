#include "oracle/layers/contract.hpp"

namespace tally::embedding_contract {
namespace {

/// The features that enter are the vocabulary's: a token stands for the row that is 1 at its place.
const RegisterContract registered{
    {.section = "layer",
     .kind = "embedding",
     .options = {{.name = "width", .type = OptionType::integer, .standard = std::nullopt, .range = {.at_least = "1"}},
                 {.name = "padding_index",
                  .type = OptionType::integer,
                  .standard = std::int64_t{-1},
                  .range = {.at_least = "-1"}}},
     .tensors = {{.name = "weight",
                  .role = Role::parameter,
                  .shape = [](const Choice& layer, std::int64_t vocabulary) -> std::vector<std::int64_t> {
                    return {vocabulary, layer.integer("width")};
                  }}},
     .drawn = false,
     .reads_tokens = true,
     .out_features = [](const Choice& layer, std::int64_t) { return layer.integer("width"); },
     .definition = "y of a row = the row of W that its token names"}};

}  // namespace
}  // namespace tally::embedding_contract
