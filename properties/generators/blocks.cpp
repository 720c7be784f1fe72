// Residual blocks and low-rank adapters of a plan, and layers taken away from it.
#include "properties/generators/blocks.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>

#include "kernels/device/executor/schedule.hpp"
#include "oracle/case/contract.hpp"
#include "oracle/case/graph.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/sizes.hpp"
#include "properties/generators/choices.hpp"
#include "properties/generators/drawn_options.hpp"

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

namespace {

constexpr std::uint64_t apart = 0x9b05688cu, apart_of_ranks = 0x3ab1f6c7u, apart_of_norms = 0x77d3e2a5u,
                        apart_of_inputs = 0x243f6a88u;
constexpr std::int64_t most_rank = 4;

std::vector<std::int64_t> ranks_of_adapters(const Case& c) {
  std::vector<std::int64_t> found;
  for (const std::string& name : adapted_layers(c.model))
    for (const Layer& l : c.model.layers)
      if (l.name == name + "_a") found.push_back(l.integer("out"));
  return found;
}
const Register<DeclaredSize> registered_ranks{{.name = "rank of an adapter", .least = 1, .in = ranks_of_adapters}};

/// The layer that `name` is read from, where nothing is named; it gets a name where it has none.
std::string read_by(std::vector<Layer>& layers, std::size_t i) {
  if (!layers[i].inputs.empty()) return layers[i].inputs.front();
  if (i == 0) return model_input_name;
  if (layers[i - 1].name.empty()) layers[i - 1].name = "before_" + layers[i].name;
  return layers[i - 1].name;
}

class Adapters {
 public:
  explicit Adapters(Plan& plan) : plan_(plan), random_(plan.seed ^ apart), ranks_(plan.seed ^ apart_of_ranks) {}

  void add() {
    std::vector<Layer>& layers = plan_.hidden;
    if (reads_two_apart()) return adapt(0);
    bool any = false;
    for (std::size_t i = layers.size(); i-- > 0;) {
      if (is_norm(layers[i]) && one_in(2) && layers[i].options.contains("affine") && layers[i].flag("affine"))
        layers[i].trainable = false;
      if (layers[i].kind != kinds::linear || !layers[i].tied.empty()) continue;
      if (any && one_in(2)) {
        if (one_in(2)) layers[i].trainable = false;  // beside one that trains, in front of a layer that reads both
        continue;
      }
      adapt(i);
      any = true;
    }
  }

 private:
  bool one_in(std::uint64_t n) { return random_.below(n) == 0; }

  /// One plan in four: two layers on the model's input, of which the second stands still, and one that reads both. So a
  /// gradient is asked for by one of two inputs.
  bool reads_two_apart() {
    executor::Schedule random(plan_.seed ^ apart_of_inputs);
    if (random.below(4) != 0 || plan_.tokens.width > 0) return false;
    const std::vector<std::string>& words = gate_activations();
    const std::int64_t width = hidden_features(plan_);
    Layer up = layer("linear", "up", {{"out", width}});
    Layer gated = layer("gated", "glu", {{"activation", words[random.below(words.size())]}});
    up.inputs = {model_input_name};
    up.trainable = false;
    gated.inputs = {"gate", "up"};
    plan_.hidden = {layer("linear", "gate", {{"out", width}}), up, gated};
    return true;
  }

  void adapt(std::size_t i) {
    std::vector<Layer>& layers = plan_.hidden;
    const bool first_of_model = i == 0 && layers[i].inputs.empty() && plan_.tokens.width > 0;
    const std::string read = first_of_model ? (plan_.tokens.positions ? "wpe" : "wte") : read_by(layers, i);
    layers[i].trainable = false;
    const std::string name = layers[i].name;
    const std::int64_t out = layers[i].integer("out"), rank = drawn_size("rank of an adapter", ranks_, most_rank);
    static constexpr std::array alphas{"1", "2", "8"};
    const std::string alpha = alphas[random_.below(alphas.size())];
    std::vector<Layer> adapter;
    const auto next = [&](Layer made) {
      made.inputs = {adapter.empty() ? read : adapter.back().name};
      adapter.push_back(std::move(made));
    };
    if (one_in(3)) next(layer("dropout", name + "_drop", {{"p", Decimal{"0.5"}}}));
    next(layer("linear", name + "_a", {{"out", rank}, {"bias", false}}));
    next(layer("linear", name + "_b", {{"out", out}, {"bias", false}}));
    next(layer("scale", name + "_s",
               {{"factor", rank == 1 ? Decimal{alpha} : decimal(std::stod(alpha) / double(rank))}}));
    adapter.push_back(sum_of(name + "_sum", {name, name + "_s"}));
    for (std::size_t j = i + 1; j < layers.size(); ++j) std::ranges::replace(layers[j].inputs, name, name + "_sum");
    layers.insert(layers.begin() + static_cast<std::ptrdiff_t>(i) + 1, std::make_move_iterator(adapter.begin()),
                  std::make_move_iterator(adapter.end()));
  }

  Plan& plan_;
  executor::Schedule random_, ranks_;
};

/// Behind the first linear layer of a chain without one, in one plan of two.
void add_norm_of_rows(Plan& plan) {
  executor::Schedule random(plan.seed ^ apart_of_norms);
  std::vector<Layer>& layers = plan.hidden;
  const auto linear = std::ranges::find(layers, std::string("linear"), &Layer::kind);
  const bool is_chain = std::ranges::all_of(layers, [](const Layer& l) { return l.inputs.empty(); });
  if (random.below(2) == 0 || linear == layers.end() || !is_chain || std::ranges::any_of(layers, is_norm)) return;
  const std::vector<std::string> kinds = norms_of_rows();
  layers.insert(linear + 1, layer(kinds[random.below(kinds.size())], "norm_of_" + linear->name));
}

/// The table and the positions stand still, each in one plan over tokens of three.
void freeze_tables(TokenPlan& tokens, std::uint64_t seed) {
  executor::Schedule random(seed ^ ~apart_of_norms);
  tokens.frozen = random.below(3) == 0;
  tokens.frozen_positions = random.below(3) == 0;
}

}  // namespace

void add_adapters(Plan& plan) {
  add_norm_of_rows(plan);
  freeze_tables(plan.tokens, plan.seed);
  Adapters(plan).add();
}

bool take_adapter_off(std::vector<Layer>& layers, std::size_t i) {
  const std::string name = layers[i].name, sum_name = name + "_sum";
  const auto begin = layers.begin() + static_cast<std::ptrdiff_t>(i) + 1;
  const auto sum = name.empty() ? layers.end() : std::ranges::find(begin, layers.end(), sum_name, &Layer::name);
  if (sum == layers.end()) return false;
  layers.erase(begin, sum + 1);
  for (Layer& reader : layers) std::ranges::replace(reader.inputs, sum_name, name);
  return true;
}

std::vector<std::string> adapted_layers(const Model& model) {
  std::vector<std::string> found;
  for (const Layer& l : model.layers) {
    const bool adapted = !l.trainable && std::ranges::any_of(model.layers, [&](const Layer& other) {
      return other.kind == kinds::scale && other.name == l.name + "_s";
    });
    if (adapted) found.push_back(l.name);
  }
  return found;
}

}  // namespace tally
