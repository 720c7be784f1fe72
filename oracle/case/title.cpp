#include "oracle/case/title.hpp"

#include <algorithm>

#include "oracle/case/formats.hpp"
#include "oracle/case/generations.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/pipeline.hpp"

namespace tally {
namespace {

std::string of_windows(const Case& c) {
  std::size_t most = 0;
  for (const auto& window : c.windows) most = std::max(most, window.size());
  const std::string stages = is_pipelined(c) ? ", " + std::to_string(stages_of(c)) + " stages" : "";
  std::string ranks;
  for (const Generation& each : generations_of(c)) ranks += (ranks.empty() ? "" : "/") + std::to_string(each.ranks);
  return (c.dealt.empty() ? "" : ", " + ranks + " ranks") + stages + ", K = " + std::to_string(most) + ", " +
         std::to_string(c.windows.size()) + (c.windows.size() == 1 ? " window, " : " windows, ") +
         c.recipe.optimizer.kind;
}

}  // namespace

std::string formats_of(const Precision& precision) {
  std::string words(name_of(precision.storage));
  const auto add = [&](const char* what, Dtype dtype) {
    if (dtype != Dtype::fp32) words += std::string(", ") + what + " " + std::string(name_of(dtype));
  };
  add("accumulator", precision.compute);
  add("buffer", precision.accumulate);
  add("master", precision.master);
  return words + (precision.tf32 ? ", TF32" : "");
}

std::string title_of(const Case& c) {
  if (is_opaque(c.model))
    return formats_of(c.precision) + ", opaque, " + std::to_string(parameters_of(c.model).size()) + " tensors, " +
           c.model.loss.kind + of_windows(c);
  std::string sizes = c.model.tokens ? "" : std::to_string(c.model.input), kinds;
  for (const Layer& l : c.model.layers) {
    if (l.kind == "linear") {
      sizes += "-" + std::to_string(l.integer("out"));
    } else if (l.kind == "embedding") {
      sizes += std::to_string(c.model.input) + " tokens-" + std::to_string(l.integer("width"));
    } else {
      kinds += ", " + l.kind;
    }
  }
  return formats_of(c.precision) + ", linear " + sizes + kinds + ", " + c.model.loss.kind + of_windows(c);
}

}  // namespace tally
