#include "oracle/layers/contract.hpp"

namespace tally::position_embedding_contract {
namespace {

const RegisterContract registered{
    {.section = "layer",
     .kind = "position_embedding",
     .options = {{.name = "length", .type = OptionType::integer, .standard = std::nullopt, .range = {.at_least = "1"}}},
     .tensors = {{.name = "weight",
                  .role = Role::parameter,
                  .shape = [](const Choice& layer, std::int64_t features) -> std::vector<std::int64_t> {
                    return {layer.integer("length"), features};
                  }}},
     .drawn = false,
     .reads_positions = true,
     .table_length = "length",
     .definition = "y of a row = x + the row of W that its place in its sequence names"}};

}  // namespace
}  // namespace tally::position_embedding_contract
