#include "oracle/layers/contract.hpp"

namespace tally::clip_value_contract {
namespace {

const RegisterContract registered{
    {.section = "clip",
     .kind = "value",
     .options = {{.name = "max_value", .type = OptionType::number, .standard = std::nullopt, .range = {.above = "0"}}},
     .definition = "every element of g clamped to +-max_value"}};

}  // namespace
}  // namespace tally::clip_value_contract
