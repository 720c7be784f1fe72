#include "kernels/trace/pipe_tag.hpp"

#include <string>

#include "oracle/case/pipeline.hpp"

namespace tally {
namespace {

/// The layer with this label; their number where none has it.
std::size_t layer_with(const Model& model, std::string_view label) {
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const std::string& name = model.layers[i].name;
    if (name.empty() ? label == label_of(model, i) : label == name) return i;
  }
  return model.layers.size();
}

/// The layer whose label stands last in "in.momentum.fc1.weight", with something behind it: a layer may be called "in" or
/// "momentum". Their number where none does.
std::size_t layer_named(const Case& c, std::string_view tensor) {
  for (std::size_t end = tensor.rfind('.'); end != std::string_view::npos && end > 0;) {
    const std::size_t dot = tensor.rfind('.', end - 1), begin = dot == std::string_view::npos ? 0 : dot + 1;
    if (const std::size_t i = layer_with(c.model, tensor.substr(begin, end - begin)); i < c.model.layers.size())
      return i;
    end = dot;
  }
  return c.model.layers.size();
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
