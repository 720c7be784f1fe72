#include <cmath>
#include <numeric>

#include "kernels/device/executor/schedule.hpp"
#include "oracle/case/contract.hpp"
#include "oracle/case/graph.hpp"
#include "oracle/case/io.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/rows.hpp"
#include "properties/generators/exact_cases.hpp"
#include "properties/generators/ordinary/ordinary_plan.hpp"
#include "properties/generators/plan.hpp"

namespace tally {
namespace {

std::uint64_t seed_for(std::uint64_t seed, const std::string& name) {
  std::uint64_t h = 0xcbf29ce484222325u ^ (seed * 0x9e3779b97f4a7c15u);
  for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return h >> 12;  // JSON keeps integers below 2^53 exactly everywhere
}

class Drawer {
 public:
  Drawer(const Plan& plan, Case& c) : plan_(plan), case_(c) {}

  Tensor& add(const std::string& name, Dtype dtype, std::vector<std::int64_t> shape, const std::string& family) {
    Tensor tensor(dtype, std::move(shape));
    draw(tensor, Drawing{1, seed_for(plan_.seed, name), family});
    return case_.tensors.insert_or_assign(name, std::move(tensor)).first->second;
  }

  /// The family of values for real data: the ordinary one, or dyadic with `bits` bits.
  std::string real(const std::string& ordinary, int bits) const {
    return plan_.data != Data::ordinary ? "dyadic:" + std::to_string(bits) : ordinary;
  }

 private:
  const Plan& plan_;
  Case& case_;
};

std::string family_of(const Plan& plan, const Drawer& drawer, const Layer& l, const LayerTensor& tensor,
                      std::int64_t features) {
  if (tensor.role == Role::mask) return "mask:" + std::to_string(100 - int(100 * l.number("p").to_double()));
  if (const std::string start = initialisation_of(plan); !start.empty())
    return initial_family(start, l, tensor, features);
  if (tensor.name == "running_var") return "variance";
  if (tensor.name == "running_mean") return "uniform";
  if (tensor.name == "weight" && (l.kind == kinds::embedding || l.kind == kinds::position_embedding))
    return drawer.real("normal", 3);
  if (l.kind == kinds::linear)
    return drawer.real(tensor.name == "weight" ? "he:" + std::to_string(features) : "uniform", 3);
  return tensor.name == "weight" ? "positive" : "uniform";
}

void draw_layers(const Plan& plan, Case& c, Drawer& drawer) {
  for (std::size_t i = 0; i < c.model.layers.size(); ++i) {
    const Layer& l = c.model.layers[i];
    const std::int64_t features = features_before(c.model, i);
    for (const LayerTensor& tensor : tensors_of(l)) {
      const auto shape = shape_in(c, tensor, l, features);
      const Dtype dtype = tensor.role == Role::mask ? Dtype::u8 : plan.precision.master;
      drawer.add(l.name + "." + tensor.name, dtype, shape, family_of(plan, drawer, l, tensor, features));
    }
  }
}

void move_means(Case& c) {
  for (const Layer& l : c.model.layers) {
    if (l.kind != kinds::linear || l.name == "out" || !l.flag("bias")) continue;
    Tensor& bias = c.tensors.at(l.name + ".bias");
    for (std::size_t i = 0; i < bias.elements(); ++i) bias.set(i, 0x1p10);
    bias.drawing.reset();
  }
}

/// What each layer that normalises reads, of a linear layer in front of it: its outputs are alike, row by row, or each
/// the same in every row where columns are normalised; a number near 2^12, with as many bits as its format has.
void make_constant(const Plan& plan, Case& c) {
  executor::Schedule random(plan.seed ^ 0x4cf5ad43u);
  for (std::size_t i = 0; i < c.model.layers.size(); ++i) {
    const LayerInput from = is_norm(c.model.layers[i]) ? first_input_of(c.model, i) : model_input;
    if (from == model_input) continue;
    const Layer& l = c.model.layers[static_cast<std::size_t>(from)];
    if (l.kind != kinds::linear || !l.tied.empty() || !l.flag("bias")) continue;
    const bool by_rows = !contract_of("layer", c.model.layers[i]).row_statistics.empty();
    Tensor &weight = c.tensors.at(l.name + ".weight"), &bias = c.tensors.at(l.name + ".bias");
    const std::size_t inputs = weight.elements() / bias.elements();
    for (std::size_t j = 0; j < weight.elements(); ++j) weight.set(j, by_rows ? weight.value(j % inputs) : 0);
    const auto number = [&] { return std::ldexp(1 + double(random.below(1u << 23)) * 0x1p-23, 12); };
    const double all = number();
    for (std::size_t j = 0; j < bias.elements(); ++j) bias.set(j, by_rows ? all : number());
    weight.drawing.reset(), bias.drawing.reset();
  }
}

std::string input_family(const Plan& plan) {
  const std::string values = input_of(plan);
  if (values.empty() || values == "digits") return "normal";
  return values == "one_hot" ? "one_hot:" + std::to_string(plan.input) : values;
}

/// Rows of the second micro-batch of every window, or of the last window of several, lose their weight.
void lose_weights(const Plan& plan, const Case& c, Tensor& weights, double nothing) {
  const std::size_t windows = c.windows.size();
  for (std::size_t w = 0; w < windows; ++w) {
    const bool all = plan.empty_window && windows > 1 && w + 1 == windows;
    for (std::size_t k = 0; k < c.windows[w].size(); ++k) {
      if (!all && !(plan.empty_micro_batch && k == 1)) continue;
      const auto first = static_cast<std::size_t>(first_row(c, w, k));
      for (std::size_t i = 0; i < static_cast<std::size_t>(c.windows[w][k]); ++i) weights.set(first + i, nothing);
      weights.drawing.reset();
    }
  }
}

/// Rows to ignore are drawn as -100.
void mark_ignored(Tensor& target, std::int64_t ignore_index) {
  constexpr std::int64_t drawn = -100;
  if (ignore_index == drawn) return;
  for (std::size_t i = 0; i < target.elements(); ++i) {
    if (target.integer(i) == drawn) target.set(i, double(ignore_index)), target.drawing.reset();
  }
}

void draw_target(const Plan& plan, Case& c, Drawer& drawer, std::int64_t rows) {
  if (plan.loss.kind == kinds::cross_entropy) {
    const std::string classes = std::to_string(plan.outputs);
    const std::string family = plan.ignored_percent == 0
                                   ? "classes:" + classes
                                   : "classes_ignored:" + classes + ":" + std::to_string(plan.ignored_percent);
    Tensor& target = drawer.add("target", Dtype::i64, {rows}, family);
    mark_ignored(target, plan.loss.integer("ignore_index"));
    lose_weights(plan, c, target, double(plan.loss.integer("ignore_index")));
    return;
  }
  drawer.add("target", plan.precision.storage, {rows, plan.outputs}, drawer.real("normal", 3));
  if (plan.loss.flag("item_weights")) {
    Tensor& weights = drawer.add("item_weight", Dtype::i64, {rows}, "counts:3");
    lose_weights(plan, c, weights, 0);
  }
}

}  // namespace

void draw_tensors(const Plan& plan, Case& c) {
  std::int64_t rows = 0;
  for (const auto& window : c.windows) rows = std::accumulate(window.begin(), window.end(), rows);
  Drawer drawer(plan, c);
  const bool tokens = plan.tokens.width > 0;
  Tensor& x = tokens ? drawer.add("tokens", Dtype::i64, {rows}, "classes:" + std::to_string(plan.input))
                     : drawer.add("x", plan.precision.storage, {rows, plan.input}, drawer.real(input_family(plan), 3));
  if (plan.gradient_magnitude != 1 && !tokens) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(plan.input); ++i)
      x.set(i, plan.gradient_magnitude * x.value(i));
    x.drawing.reset();
  }
  draw_layers(plan, c, drawer);
  if (plan.far_mean) move_means(c);
  if (plan.constant) make_constant(plan, c);
  draw_target(plan, c, drawer, rows);
  if (input_of(plan) == "digits") show_digits(plan, c);
  if (plan.data == Data::cancelling) draw_cancelling(plan, c);
}

}  // namespace tally
