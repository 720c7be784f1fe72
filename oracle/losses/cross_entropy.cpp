#include "oracle/layers/contract.hpp"

namespace tally::cross_entropy_contract {
namespace {

/// An empty `weight` stands for all classes weighing 1.
const RegisterContract registered{
    {.section = "loss",
     .kind = "cross_entropy",
     .options = {{.name = "ignore_index", .type = OptionType::integer, .standard = std::int64_t{-100}},
                 {.name = "label_smoothing",
                  .type = OptionType::number,
                  .standard = Decimal{"0"},
                  .range = {.at_least = "0", .at_most = "1"}},
                 {.name = "weight",
                  .type = OptionType::number_list,
                  .standard = std::vector<Decimal>{},
                  .range = {.above = "0"}},
                 {.name = "shift", .type = OptionType::boolean, .standard = false, .since = 2},
                 {.name = "z_loss",
                  .type = OptionType::number,
                  .standard = Decimal{"0"},
                  .range = {.at_least = "0"},
                  .since = 2}},
     .class_targets = true,
     .definition =
         "l = (1 - e) w_t nll_t + (e / C) sum_c w_c nll_c + w_t z_loss lse^2, nll_c = -log softmax(z)_c; item "
         "weight w_t"}};

}  // namespace
}  // namespace tally::cross_entropy_contract
