#include "oracle/layers/contract.hpp"

namespace tally::global_norm_contract {
namespace {

const RegisterContract registered{
    {.section = "clip",
     .kind = "global_norm",
     .options =
         {{.name = "max_norm", .type = OptionType::number, .standard = std::nullopt, .range = {.above = "0"}},
          {.name = "norm", .type = OptionType::text, .standard = std::string("2"), .words = {"1", "2", "inf"}},
          {.name = "epsilon", .type = OptionType::number, .standard = Decimal{"1e-6"}, .range = {.at_least = "0"}}},
     .reads_norm = true,
     .definition = "g <- g min(1, max_norm / (norm of all gradients + epsilon))"}};

}  // namespace
}  // namespace tally::global_norm_contract
