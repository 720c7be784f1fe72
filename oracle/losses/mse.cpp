#include "oracle/layers/contract.hpp"

namespace tally::mse_contract {
namespace {

const RegisterContract registered{
    {.section = "loss",
     .kind = "mse",
     .options = {{.name = "item_weights", .type = OptionType::boolean, .standard = false}},
     .definition = "l = mean over features of (y - t)^2, weighed by item_weight when asked"}};

}  // namespace
}  // namespace tally::mse_contract
