#include "oracle/layers/contract.hpp"

namespace tally::warmup_cosine_contract {
namespace {

const RegisterContract registered{
    {.section = "learning_rate",
     .kind = "warmup_cosine",
     .options = {{.name = "base", .type = OptionType::number, .standard = std::nullopt, .range = {.at_least = "0"}},
                 {.name = "warmup", .type = OptionType::integer, .standard = std::nullopt, .range = {.at_least = "0"}},
                 {.name = "total", .type = OptionType::integer, .standard = std::nullopt, .range = {.at_least = "0"}},
                 {.name = "floor", .type = OptionType::number, .standard = Decimal{"0"}, .range = {.at_least = "0"}}},
     .misfits = [](const Choice& rate) -> std::vector<Misfit> {
       if (rate.integer("warmup") <= rate.integer("total")) return {};
       return {{"warmup", std::to_string(rate.integer("warmup")),
                "at most total, " + std::to_string(rate.integer("total"))}};
     },
     .definition = "a linear rise to base over warmup steps, then half a cosine down to floor at total"}};

}  // namespace
}  // namespace tally::warmup_cosine_contract
