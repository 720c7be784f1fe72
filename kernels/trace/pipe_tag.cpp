#include "kernels/trace/pipe_tag.hpp"

#include <string>

#include "oracle/case/pipeline.hpp"

namespace tally {
namespace {

/// Where its label ends in "in.momentum.fc1.weight", of "fc1": it stands there as a whole, with something behind it;
/// 0 where it does not.
std::size_t end_of_label(std::string_view tensor, const std::string& label) {
  const std::string inside = label + ".";
  for (std::size_t at = tensor.rfind(inside); at != std::string_view::npos; at = tensor.rfind(inside, at - 1)) {
    if (at == 0 || tensor[at - 1] == '.') return at + inside.size();
  }
  return 0;
}

/// The layer whose label stands last in the name: a layer may be called "in" or "momentum". Their number where none does.
std::size_t layer_named(const Case& c, std::string_view tensor) {
  std::size_t named = c.model.layers.size(), end = 0;
  for (std::size_t i = 0; i < c.model.layers.size(); ++i)
    if (const std::size_t own = end_of_label(tensor, label_of(c.model, i)); own > end) named = i, end = own;
  return named;
}

}  // namespace

int part_of_tap(const Case& c, const TapName& name) {
  if (name.stage == "loss") return static_cast<int>(parts_of_model(c).size()) - 1;
  if (const std::size_t i = layer_named(c, name.tensor); i < c.model.layers.size()) {
    const bool of_sum = name.stage == "fork" || (name.stage == "send" && name.tensor.starts_with("in.d."));
    const bool behind = of_sum && name.tensor.ends_with(".y") && is_summed_behind(c, i);
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
