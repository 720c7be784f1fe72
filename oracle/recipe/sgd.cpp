#include "oracle/case/decimal.hpp"
#include "oracle/layers/contract.hpp"

namespace tally::sgd_contract {
namespace {

bool is_zero(const Choice& sgd, const char* option) { return compare_decimals(sgd.number(option).text, "0") == 0; }

std::vector<Misfit> misfits(const Choice& sgd) {
  std::vector<Misfit> found;
  if (!sgd.flag("nesterov")) return found;
  if (is_zero(sgd, "momentum")) found.push_back({"nesterov", "true without momentum", "false, or a momentum > 0"});
  if (!is_zero(sgd, "dampening")) found.push_back({"nesterov", "true with dampening", "false, or a dampening of 0"});
  return found;
}

const RegisterContract registered{
    {.section = "optimizer",
     .kind = "sgd",
     .options = {{.name = "momentum",
                  .type = OptionType::number,
                  .standard = Decimal{"0"},
                  .range = {.at_least = "0", .below = "1"}},
                 {.name = "dampening",
                  .type = OptionType::number,
                  .standard = Decimal{"0"},
                  .range = {.at_least = "0", .below = "1"}},
                 {.name = "nesterov", .type = OptionType::boolean, .standard = false}},
     .state = {{.name = "momentum",
                .word = "momentum",
                .begins_with_gradient = true,
                .present = [](const Choice& sgd) { return !is_zero(sgd, "momentum"); }}},
     .misfits = misfits,
     .definition = "b <- momentum b + (1 - dampening) g, the first b being g; p <- p - rate b"}};

}  // namespace
}  // namespace tally::sgd_contract
