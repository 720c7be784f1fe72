// BatchNorm normalises by the statistics of other rows than the case says.
#include <algorithm>

#include "properties/diagnosis/restatement.hpp"

namespace tally::batch_statistics_restatement {
namespace {

Restated by(const std::string& statistics, const std::string& formula) {
  Restated way;
  way.change = [statistics](Case& c) {
    for (Layer& layer : c.model.layers) {
      if (layer.kind == "batch_norm") layer.options["statistics"] = statistics;
    }
  };
  way.formula = formula;
  return way;
}

/// One choice for all of its layers, where a layer has another.
std::vector<Restated> ways(const Case& c, const Trace&) {
  std::vector<Restated> all;
  const auto differs_from = [&](const std::string& statistics) {
    return std::any_of(c.model.layers.begin(), c.model.layers.end(), [&](const Layer& layer) {
      return layer.kind == "batch_norm" && layer.text("statistics") != statistics;
    });
  };
  if (differs_from("micro_batch")) all.push_back(by("micro_batch", "μ = Σ x / n over the rows of a micro-batch"));
  if (differs_from("window")) all.push_back(by("window", "μ = Σ x / n over the rows of the window"));
  if (differs_from("frozen")) all.push_back(by("frozen", "μ = the running mean"));
  return all;
}

const RegisterRestatement registered{{
    .name = "batch-statistics-otherwise",
    .sentence = "BatchNorm normalises by the statistics of other rows than the case says",
    .formula = "μ = Σ x / n over other rows",
    .remedy = "take BatchNorm's statistics as the case says (`.train()`, `.eval()`, SyncBatchNorm), or state the rows "
              "that the loop takes",
    .ways = ways,
}};

}  // namespace
}  // namespace tally::batch_statistics_restatement
