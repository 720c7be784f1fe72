#include "oracle/layers/contract.hpp"

namespace tally::decoupled_contract {
namespace {

const RegisterContract registered{
    {.section = "weight_decay",
     .kind = "decoupled",
     .options = {{.name = "lambda", .type = OptionType::number, .standard = std::nullopt, .range = {.at_least = "0"}},
                 {.name = "exclude",
                  .type = OptionType::text_list,
                  .standard = std::vector<std::string>{},
                  .words = {"bias", "norm", "embedding"},
                  .parameters = true}},
     .definition = "p <- p (1 - rate lambda), before the update"}};

}  // namespace
}  // namespace tally::decoupled_contract
