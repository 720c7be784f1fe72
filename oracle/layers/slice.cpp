#include "oracle/layers/contract.hpp"

namespace tally::slice_contract {
namespace {

std::vector<Misfit> sizes(const Choice& layer, const std::vector<std::int64_t>& features) {
  if (features.size() != 1) return {};  // the list of inputs says so itself
  const std::int64_t begin = layer.integer("begin"), end = layer.integer("end");
  if (begin >= end) return {{"end", std::to_string(end), "more than " + std::to_string(begin) + ", where it begins"}};
  if (end <= features[0]) return {};
  return {{"end", std::to_string(end), "at most " + std::to_string(features[0]) + ", the features"}};
}

const RegisterContract registered{
    {.section = "layer",
     .kind = "slice",
     .options = {{.name = "begin",
                  .type = OptionType::integer,
                  .standard = std::nullopt,
                  .range = {.at_least = "0"},
                  .since = 2},
                 {.name = "end",
                  .type = OptionType::integer,
                  .standard = std::nullopt,
                  .range = {.at_least = "1"},
                  .since = 2}},
     .drawn = false,
     .input_misfits = sizes,
     .out_features = [](const Choice& layer, std::int64_t) { return layer.integer("end") - layer.integer("begin"); },
     .definition = "y = the features of x from begin to end - 1"}};

}  // namespace
}  // namespace tally::slice_contract
