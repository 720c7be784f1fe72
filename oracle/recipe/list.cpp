#include "oracle/layers/contract.hpp"

namespace tally::list_contract {
namespace {

std::vector<Misfit> misfits(const Choice& schedule) {
  if (!schedule.numbers("rates").empty()) return {};
  return {{"rates", "[]", "at least one rate"}};
}

const RegisterContract registered{
    {.section = "learning_rate",
     .kind = "list",
     .options =
         {{.name = "first", .type = OptionType::integer, .standard = std::int64_t{0}, .range = {.at_least = "0"}},
          {.name = "rates", .type = OptionType::number_list, .standard = std::nullopt, .range = {.at_least = "0"}}},
     .drawn = false,
     .misfits = misfits,
     .definition = "the rate of step t is rates[t - first]; the first one before, the last one after"}};

}  // namespace
}  // namespace tally::list_contract
