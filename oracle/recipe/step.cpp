#include "oracle/layers/contract.hpp"

namespace tally::step_contract {
namespace {

const RegisterContract registered{
    {.section = "learning_rate",
     .kind = "step",
     .options = {{.name = "base", .type = OptionType::number, .standard = std::nullopt, .range = {.at_least = "0"}},
                 {.name = "every", .type = OptionType::integer, .standard = std::nullopt, .range = {.at_least = "1"}},
                 {.name = "factor", .type = OptionType::number, .standard = std::nullopt, .range = {.at_least = "0"}}},
     .definition = "rate = base * factor^floor(t / every)"}};

}  // namespace
}  // namespace tally::step_contract
