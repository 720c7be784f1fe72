#include "oracle/layers/contract.hpp"

namespace tally::dynamic_loss_scale_contract {
namespace {

const RegisterContract registered{
    {.section = "loss_scale",
     .kind = "dynamic",
     .options =
         {{.name = "initial", .type = OptionType::number, .standard = std::nullopt, .range = {.above = "0"}},
          {.name = "growth_factor", .type = OptionType::number, .standard = Decimal{"2"}, .range = {.above = "1"}},
          {.name = "backoff_factor",
           .type = OptionType::number,
           .standard = Decimal{"0.5"},
           .range = {.above = "0", .below = "1"}},
          {.name = "growth_interval",
           .type = OptionType::integer,
           .standard = std::int64_t{2000},
           .range = {.at_least = "1"}},
          {.name = "growth_counter",
           .type = OptionType::integer,
           .standard = std::int64_t{0},
           .range = {.at_least = "0"}}},
     .first_scale = "initial",
     .checks_overflow = true,
     // A counter at the interval would already have returned to 0, and one beyond it never reaches it.
     .misfits = [](const Choice& scale) -> std::vector<Misfit> {
       if (scale.integer("growth_counter") < scale.integer("growth_interval")) return {};
       return {{"growth_counter", std::to_string(scale.integer("growth_counter")),
                "less than growth_interval, " + std::to_string(scale.integer("growth_interval"))}};
     },
     .definition = "skips a window whose buffer is not finite and backs off; grows after clean windows"}};

}  // namespace
}  // namespace tally::dynamic_loss_scale_contract
