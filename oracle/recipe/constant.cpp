#include "oracle/layers/contract.hpp"

namespace tally::constant_contract {
namespace {

const RegisterContract registered{
    {.section = "learning_rate",
     .kind = "constant",
     .options = {{.name = "base", .type = OptionType::number, .standard = std::nullopt, .range = {.at_least = "0"}}},
     .definition = "rate = base"}};

}  // namespace
}  // namespace tally::constant_contract
