#include "oracle/case/running_values.hpp"

#include <string>

#include "oracle/case/ranks.hpp"

namespace tally {
namespace {

bool moves_with_each(const Layer& layer) {
  return layer.kind == "batch_norm" && layer.text("statistics") == "micro_batch";
}

}  // namespace

bool says_running(const Layer& layer) {
  const auto said = layer.options.find("running");
  return said != layer.options.end() && said->second != OptionValue(std::string("first_rank"));
}

bool keeps_each_running(const Case& c, const Layer& layer) {
  return moves_with_each(layer) && says_running(layer) && most_ranks_of(whole_of(c)) > 1;
}

bool takes_first_running(const Case& c, const Layer& layer) {
  return moves_with_each(layer) && in_ranks(c) && !keeps_each_running(c, layer);
}

void forget_running(std::vector<Layer>& layers) {
  for (Layer& layer : layers)
    if (says_running(layer)) layer.options["running"] = std::string("first_rank");
}

std::size_t running_values_of(const Case& c, const Layer& layer) {
  return keeps_each_running(c, layer) ? ranks_of(c) : 1;
}

}  // namespace tally
