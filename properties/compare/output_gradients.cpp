#include "properties/compare/output_gradients.hpp"

#include "oracle/tolerance/added_in_turn.hpp"

namespace tally {

using oracle::Expected;

OutputGradients::OutputGradients(EndToEndWalk& walk, Group& group) : walk_(walk), group_(group) {
  if (!walk.layers.empty()) given_[walk.layers.size() - 1].push_back(std::move(group.dy));
}

void OutputGradients::give(const LayerReader& reader, Expected gradient) {
  const LayerInput from = walk_.layers[reader.layer].inputs[reader.input];
  if (from == model_input || !walk_.layers[static_cast<std::size_t>(from)].has_gradient) return;
  given_[static_cast<std::size_t>(from)].push_back(std::move(gradient));
}

Expected OutputGradients::take(std::size_t i) {
  const LayerView& layer = walk_.layers[i];
  std::vector<Expected> given = std::move(given_.extract(i).mapped());
  if (given.size() == 1) return std::move(given.front());
  std::vector<const Expected*> addends;
  for (const Expected& each : given) addends.push_back(&each);
  Evaluation sum = evaluation_of([&] { return oracle::added_in_turn(walk_.declared, "gradient.add", addends); });
  const std::string tensor = "d." + layer.label + ".y";
  hold_rows(walk_, group_, "fork", tensor, {sum}, group_.count);
  return walk_.seen_rows(group_, "fork", tensor, sum.at(""));
}

}  // namespace tally
