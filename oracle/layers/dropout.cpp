#include "oracle/layers/contract.hpp"

namespace tally::dropout_contract {
namespace {

constexpr std::int64_t rows_of_x = -1;

const RegisterContract registered{
    {.section = "layer",
     .kind = "dropout",
     .options = {{.name = "p",
                  .type = OptionType::number,
                  .standard = std::nullopt,
                  .range = {.at_least = "0", .below = "1"}}},
     .tensors = {{.name = "mask",
                  .role = Role::mask,
                  .shape = [](const Choice&, std::int64_t features) -> std::vector<std::int64_t> {
                    return {rows_of_x, features};
                  }}},
     .definition = "y = x * mask / (1 - p); the mask belongs to the sample"}};

}  // namespace
}  // namespace tally::dropout_contract
