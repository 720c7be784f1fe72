#include "oracle/layers/contract.hpp"

namespace tally::l2_contract {
namespace {

const RegisterContract registered{
    {.section = "weight_decay",
     .kind = "l2",
     .options = {{.name = "lambda", .type = OptionType::number, .standard = std::nullopt, .range = {.at_least = "0"}},
                 {.name = "exclude",
                  .type = OptionType::text_list,
                  .standard = std::vector<std::string>{},
                  .words = {"bias", "norm", "embedding"},
                  .parameters = true}},
     .decays_gradient = true,
     .definition = "g <- g + lambda p, after clipping"}};

}  // namespace
}  // namespace tally::l2_contract
