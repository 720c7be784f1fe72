#include "oracle/layers/contract.hpp"

namespace tally {
namespace {

const RegisterContract registered{
    {.section = "optimizer",
     .kind = "sgd",
     .options = {{.name = "momentum",
                  .type = OptionType::number,
                  .standard = Decimal{"0"},
                  .range = {.at_least = "0", .below = "1"}},
                 {.name = "dampening",
                  .type = OptionType::number,
                  .standard = Decimal{"0"},
                  .range = {.at_least = "0", .below = "1"}},
                 {.name = "nesterov", .type = OptionType::boolean, .standard = false}},
     .definition = "b <- momentum b + (1 - dampening) g, the first b being g; p <- p - rate b"}};

}  // namespace
}  // namespace tally
