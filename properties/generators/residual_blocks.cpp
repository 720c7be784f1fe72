#include "properties/generators/residual_blocks.hpp"

#include <algorithm>
#include <map>

#include "kernels/device/executor/schedule.hpp"
#include "oracle/case/graph.hpp"
#include "properties/generators/activations.hpp"
#include "properties/generators/choices.hpp"

namespace tally {
namespace {

constexpr std::uint64_t one_plan_in = 4;

/// The name that no other layer of the model has.
std::string free_name(const std::vector<Layer>& layers, const std::string& word) {
  for (int number = 1;; ++number) {
    const std::string name = word + std::to_string(number);
    if (std::ranges::none_of(layers, [&](const Layer& l) { return l.name == name; })) return name;
  }
}

/// The name of layer i, which gets one where it has none.
const std::string& name_of_layer(std::vector<Layer>& layers, std::size_t i) {
  if (layers[i].name.empty()) layers[i].name = free_name(layers, "part");
  return layers[i].name;
}

class Blocks {
 public:
  explicit Blocks(Plan& plan)
      : layers_(plan.hidden),
        kernels_(plan.execution.kernels),
        plan_(plan),
        width_(hidden_features(plan)),
        random_(plan.seed ^ 0x6a09e667u) {
    if (layers_.empty()) layers_.push_back(layer("linear", "stem", {{"out", width_}}));
  }

  bool wanted() { return random_.below(one_plan_in) == 0; }

  /// Two blocks where a second is drawn, which adds the stem once more; maybe a norm behind the last sum, of two or of
  /// three.
  void draw() {
    const std::string stem = last();
    branch();
    sum({stem, last()});
    if (random_.below(2) != 0) {
      const std::string first = last();
      branch();
      const bool twice = random_.below(3) == 0;
      sum({first, twice ? first : stem, last()});
    }
    if (random_.below(3) == 0) norm();
  }

 private:
  const std::string& last() { return name_of_layer(layers_, layers_.size() - 1); }

  /// A norm, a linear layer and a function, each or not, but the linear layer always.
  void branch() {
    const std::string number = std::to_string(++branches_);
    if (random_.below(3) == 0) layers_.push_back(layer("layer_norm", "res" + number + "_norm"));
    layers_.push_back(layer("linear", "res" + number, {{"out", width_}, {"bias", random_.below(4) != 0}}));
    if (random_.below(2) == 0) layers_.push_back(activations()[random_.below(activations().size())]);
  }

  void norm() {
    layers_.push_back(layer("rms_norm", free_name(layers_, "norm")));
    for (const char* pass : {"add_norm", "add_norm.backward"})
      if (random_.below(3) != 0) kernels_[pass] = "fused";
    if (random_.below(3) == 0) plan_.execution.recompute = plan_.recomputes_some = true;
  }

  void sum(std::vector<std::string> inputs) { layers_.push_back(sum_of(free_name(layers_, "sum"), std::move(inputs))); }

  std::vector<Layer>& layers_;
  std::map<std::string, std::string>& kernels_;
  Plan& plan_;
  std::int64_t width_;
  executor::Schedule random_;
  int branches_ = 0;
};

/// What layer i reads, by a name that others can read it by: of a sum the last.
std::string last_read_by(std::vector<Layer>& layers, std::size_t i) {
  if (!layers[i].inputs.empty()) return layers[i].inputs.back();
  return i == 0 ? model_input_name : name_of_layer(layers, i - 1);
}

}  // namespace

Layer sum_of(std::string name, std::vector<std::string> inputs) {
  Layer sum = layer("add", std::move(name));
  sum.inputs = std::move(inputs);
  return sum;
}

void draw_residual_blocks(Plan& plan) {
  Plan with = plan;
  Blocks blocks(with);
  if (!blocks.wanted()) return;
  blocks.draw();
  plan = std::move(with);
}

void take_out(std::vector<Layer>& layers, std::size_t i) {
  const std::string name = layers[i].name;
  const bool named = !name.empty() && std::ranges::any_of(layers, [&](const Layer& l) {
    return std::ranges::count(l.inputs, name) > 0;
  });
  if (named) {
    const std::string instead = last_read_by(layers, i);
    for (Layer& l : layers) std::ranges::replace(l.inputs, name, instead);
  }
  layers.erase(layers.begin() + static_cast<std::ptrdiff_t>(i));
}

void take_out_if(std::vector<Layer>& layers, const std::function<bool(const Layer&)>& leaves) {
  for (std::size_t i = layers.size(); i-- > 0;)
    if (leaves(layers[i])) take_out(layers, i);
}

}  // namespace tally
