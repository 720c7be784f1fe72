#include "oracle/case/decimal.hpp"
#include "oracle/layers/contract.hpp"

namespace tally::rmsprop_contract {
namespace {

bool has_momentum(const Choice& rmsprop) { return compare_decimals(rmsprop.number("momentum").text, "0") != 0; }

const RegisterContract registered{
    {.section = "optimizer",
     .kind = "rmsprop",
     .options = {{.name = "alpha",
                  .type = OptionType::number,
                  .standard = Decimal{"0.99"},
                  .range = {.at_least = "0", .below = "1"}},
                 {.name = "eps",  // above half the smallest number of fp32, as a subject would hold 0 otherwise
                  .type = OptionType::number,
                  .standard = Decimal{"1e-8"},
                  .range = {.above = "7.006492321624086e-46"}},
                 {.name = "momentum",
                  .type = OptionType::number,
                  .standard = Decimal{"0"},
                  .range = {.at_least = "0", .below = "1"}}},
     .state = {{.name = "square_avg", .word = "second moment", .never_negative = true},
               {.name = "momentum_buffer", .word = "momentum", .present = has_momentum}},
     .definition = "v <- alpha v + (1 - alpha) g g; q = g / (sqrt(v) + eps); b <- momentum b + q; p <- p - rate b"}};

}  // namespace
}  // namespace tally::rmsprop_contract
