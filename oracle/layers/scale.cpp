#include "oracle/layers/contract.hpp"

namespace tally::scale_contract {
namespace {

const RegisterContract registered{
    {.section = "layer",
     .kind = "scale",
     .options = {{.name = "factor", .type = OptionType::number, .standard = std::nullopt, .since = 2}},
     .drawn = false,
     .definition = "y = factor · x: an adapter's alpha / r"}};

}  // namespace
}  // namespace tally::scale_contract
