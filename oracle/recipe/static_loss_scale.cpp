#include "oracle/layers/contract.hpp"

namespace tally::static_loss_scale_contract {
namespace {

const RegisterContract registered{
    {.section = "loss_scale",
     .kind = "static",
     .options = {{.name = "scale", .type = OptionType::number, .standard = std::nullopt, .range = {.above = "0"}}},
     .first_scale = "scale",
     .definition = "one scale for all windows, which never skips"}};

}  // namespace
}  // namespace tally::static_loss_scale_contract
