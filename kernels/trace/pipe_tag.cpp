#include "kernels/trace/pipe_tag.hpp"

#include <string>

#include "oracle/case/pipeline.hpp"

namespace tally {
namespace {

/// "in.momentum.fc1.weight" of "fc1": it stands there as a whole, with something behind it.
bool names_layer(std::string_view tensor, const std::string& label) {
  const std::string inside = label + ".";
  for (std::size_t at = tensor.find(inside); at != std::string_view::npos; at = tensor.find(inside, at + 1))
    if (at == 0 || tensor[at - 1] == '.') return true;
  return false;
}

}  // namespace

int part_of_tap(const Case& c, const TapName& name) {
  if (name.stage == "loss") return static_cast<int>(parts_of_model(c).size()) - 1;
  for (std::size_t i = 0; i < c.model.layers.size(); ++i)
    if (names_layer(name.tensor, label_of(c.model, i))) {
      const bool of_sum = name.stage == "fork" || (name.stage == "send" && name.tensor.starts_with("in.d."));
      const bool behind = of_sum && is_summed_behind(c, i);
      return static_cast<int>(part_with(c, i)) + int{behind};
    }
  return -1;
}

int stage_of_tap(const Case& c, const TapName& name) {
  if (name.pipe >= 0) return name.pipe;
  const int part = part_of_tap(c, name);
  return part < 0 ? 0 : static_cast<int>(stage_of_part(c, static_cast<std::size_t>(part)));
}

}  // namespace tally
