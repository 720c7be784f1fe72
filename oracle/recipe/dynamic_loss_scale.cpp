#include "oracle/layers/contract.hpp"

namespace tally {
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
     .definition = "skips a window whose buffer is not finite and backs off; grows after clean windows"}};

}  // namespace
}  // namespace tally
