#include "oracle/layers/contract.hpp"

namespace tally::lion_contract {
namespace {

const RegisterContract registered{
    {.section = "optimizer",
     .kind = "lion",
     .options = {{.name = "beta1",
                  .type = OptionType::number,
                  .standard = Decimal{"0.9"},
                  .range = {.at_least = "0", .below = "1"}},
                 {.name = "beta2",
                  .type = OptionType::number,
                  .standard = Decimal{"0.99"},
                  .range = {.at_least = "0", .below = "1"}}},
     .state = {{.name = "exp_avg", .word = "momentum"}},
     .definition = "p <- p - rate sign(beta1 m + (1 - beta1) g); m <- beta2 m + (1 - beta2) g"}};

}  // namespace
}  // namespace tally::lion_contract
