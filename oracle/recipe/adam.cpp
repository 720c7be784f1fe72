#include "oracle/layers/contract.hpp"

namespace tally {
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
                 {.name = "eps", .type = OptionType::number, .standard = Decimal{"1e-8"}, .range = {.above = "0"}}},
     .definition = "p <- p - rate m^ / (sqrt(v^) + eps), both moments corrected for their bias"}};

}  // namespace
}  // namespace tally
