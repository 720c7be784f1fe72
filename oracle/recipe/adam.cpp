#include "oracle/layers/contract.hpp"

namespace tally::adam_contract {
namespace {

const RegisterContract registered{
    {.section = "optimizer",
     .kind = "adam",
     .options = {{.name = "beta1",
                  .type = OptionType::number,
                  .standard = Decimal{"0.9"},
                  .range = {.at_least = "0", .below = "1"}},
                 {.name = "beta2",
                  .type = OptionType::number,
                  .standard = Decimal{"0.999"},
                  .range = {.at_least = "0", .below = "1"}},
                 {.name = "eps",  // above half the smallest number of fp32, as a subject would hold 0 otherwise
                  .type = OptionType::number,
                  .standard = Decimal{"1e-8"},
                  .range = {.above = "7.006492321624086e-46"}}},
     .state = {{.name = "exp_avg", .word = "momentum"},
               {.name = "exp_avg_sq", .word = "second moment", .never_negative = true}},
     .counts_steps = true,
     .definition = "p <- p - rate m^ / (sqrt(v^) + eps), both moments corrected for their bias"}};

}  // namespace
}  // namespace tally::adam_contract
