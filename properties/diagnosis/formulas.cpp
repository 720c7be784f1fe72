// Formulas that suspects share: a layer's product and weight gradient, a norm, a running statistic, the terms of a
// loss; and what a tap is to its stage.
#include "properties/diagnosis/formulas.hpp"

#include <algorithm>
#include <cmath>

#include "oracle/case/kinds.hpp"
#include "oracle/graph/stage.hpp"
#include "properties/diagnosis/settings.hpp"
#include "properties/judge/loss_inputs.hpp"

namespace tally {

std::optional<std::size_t> layer_at(const Evidence& evidence, const HeldTensor& held, const std::string& before,
                                    const std::string& kind, const std::string& after) {
  const Model& model = evidence.c.model;
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    if (!kind.empty() && model.layers[i].kind != kind) continue;
    if (held.name.tensor == before + label_of(model, i) + after) return i;
  }
  return std::nullopt;
}

namespace {

/// The operands of the linear layer whose output this is.
struct Product {
  Values x, weight, bias;
  std::size_t rows, in, out;
};

std::optional<Product> product_of(const Evidence& evidence, const HeldTensor& held) {
  const Case& c = evidence.c;
  const auto read = [&](const std::string& tensor) {
    return evidence.tap(held.name.window, held.name.micro_batch, "forward", "in." + tensor).value_or(Values{});
  };
  for (std::size_t i = 0; i < c.model.layers.size(); ++i) {
    const std::string label = label_of(c.model, i);
    if (c.model.layers[i].kind != kinds::linear || held.name.tensor != label + ".y") continue;
    Product p{read(label + ".x"), read(label + ".weight"), read(label + ".bias"), 0, 0, 0};
    p.in = static_cast<std::size_t>(features_before(c.model, i));
    p.out = static_cast<std::size_t>(features_after(c.model, i));
    p.rows = p.x.size() / p.in;
    if (p.rows * p.out == held.got.size() && p.weight.size() == p.in * p.out) return p;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Values> linear_product(const Evidence& evidence, const HeldTensor& held,
                                     const std::function<double(double sum, double x, double w)>& add) {
  const auto p = product_of(evidence, held);
  if (!p) return std::nullopt;
  Values y(held.got.size());
  for (std::size_t i = 0; i < p->rows; ++i) {
    for (std::size_t j = 0; j < p->out; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < p->in; ++k) sum = add(sum, p->x[i * p->in + k], p->weight[j * p->in + k]);
      y[i * p->out + j] = p->bias.empty() ? sum : rounded_to(held.dtype, sum) + p->bias[j];
    }
  }
  return y;
}

std::optional<Values> weight_gradient(const Evidence& evidence, const HeldTensor& held,
                                      const std::function<std::size_t(std::size_t)>& rows,
                                      const std::function<double(double)>& operand) {
  const auto layer = layer_at(evidence, held, "d.", "linear", ".weight");
  if (!layer) return std::nullopt;
  const std::string label = label_of(evidence.c.model, *layer);
  const auto dy = evidence.tap(held.name.window, held.name.micro_batch, "backward", "in.d." + label + ".y");
  const auto x = evidence.tap(held.name.window, held.name.micro_batch, "backward", "in." + label + ".x");
  const auto in = static_cast<std::size_t>(features_before(evidence.c.model, *layer));
  const std::size_t out = held.got.size() / in;
  if (!dy || !x || dy->size() / out != x->size() / in) return std::nullopt;
  Values gradient(held.got.size(), 0.0);
  for (std::size_t row = 0; row < rows(x->size() / in); ++row) {
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      gradient[i] += operand((*dy)[row * out + i / in]) * operand((*x)[row * in + i % in]);
    }
  }
  return gradient;
}

std::optional<Values> norm_of(const Evidence& evidence, int window, const std::string& stage, const std::string& prefix,
                              const std::vector<std::string>& parameters) {
  double sum = 0;
  for (const std::string& p : parameters) {
    const auto gradient = evidence.tap(window, -1, stage, prefix + p);
    if (!gradient) return std::nullopt;
    for (const double g : *gradient) sum += g * g;
  }
  return Values{std::sqrt(sum)};
}

std::optional<Values> recipe_norm_of(const Evidence& evidence, int window, const std::vector<std::string>& parameters) {
  const Choice& clip = evidence.c.recipe.clip;
  if (clip.kind != kinds::global_norm) return std::nullopt;
  const std::string& kind = clip.text("norm");
  double sum = 0;
  for (const std::string& p : parameters) {
    const auto gradient = evidence.tap(window, -1, "norm", "in.d." + p);
    if (!gradient) return std::nullopt;
    for (const double g : *gradient) {
      sum = kind == "inf" ? std::fmax(sum, std::fabs(g)) : sum + (kind == "1" ? std::fabs(g) : g * g);
    }
  }
  return Values{kind == "2" ? std::sqrt(sum) : sum};
}

std::optional<RunningUpdate> running_update(const Evidence& evidence, const HeldTensor& held) {
  const Case& c = evidence.c;
  const int w = held.name.window, k = held.name.micro_batch;
  for (std::size_t i = 0; i < c.model.layers.size(); ++i) {
    const std::string label = label_of(c.model, i);
    const bool mean = held.name.tensor == label + ".running_mean";
    if (c.model.layers[i].kind != kinds::batch_norm || !(mean || held.name.tensor == label + ".running_var")) continue;
    const auto running = evidence.tap(w, k, "running_stats", "in." + held.name.tensor);
    const auto batch = evidence.tap(w, k, "running_stats", "in." + label + (mean ? ".mean" : ".var"));
    if (!running || !batch) return std::nullopt;
    const auto n = static_cast<double>(k < 0 ? evidence.rows(w) : evidence.rows(w, k));
    const double momentum = c.model.layers[i].number("momentum").to_double();
    return RunningUpdate{*running, *batch, momentum, mean ? 1 : n / (n - 1)};
  }
  return std::nullopt;
}

Values mixed(const Values& running, double kept, const Values& batch, double taken) {
  Values moved = running;
  for (std::size_t i = 0; i < moved.size(); ++i) moved[i] = kept * running[i] + taken * batch[i];
  return moved;
}

namespace {

SmoothedRow row_of(const double* z, std::size_t classes, std::size_t target, double smoothing) {
  SmoothedRow row;
  const double maximum = *std::max_element(z, z + classes);
  double sum = 0, all = 0;
  for (std::size_t i = 0; i < classes; ++i) sum += std::exp(z[i] - maximum);
  const auto nll = [&](std::size_t i) { return std::log(sum) - (z[i] - maximum); };
  for (std::size_t i = 0; i < classes; ++i) {
    all += nll(i);
    row.main_gradient.push_back((1 - smoothing) * (std::exp(-nll(i)) - (i == target ? 1 : 0)));
  }
  row.main = (1 - smoothing) * nll(target);
  row.spread = smoothing / static_cast<double>(classes) * all;
  return row;
}

}  // namespace

std::optional<std::vector<SmoothedRow>> smoothed_rows(const Evidence& evidence, int window, int micro_batch) {
  const Choice& loss = evidence.c.model.loss;
  if (loss.kind != kinds::cross_entropy || !loss.numbers("weight").empty()) return std::nullopt;
  const double smoothing = loss.number("label_smoothing").to_double();
  const auto z = evidence.tap(window, micro_batch, "loss", "in.y");
  const auto target = evidence.tap(window, micro_batch, "loss", "in.target");
  if (smoothing == 0 || !z || !target || target->empty()) return std::nullopt;
  const std::size_t classes = z->size() / target->size();
  if (!are_targets_of(loss, *target, classes)) return std::nullopt;
  const auto ignored = static_cast<double>(loss.integer("ignore_index"));
  std::vector<SmoothedRow> rows;
  for (std::size_t i = 0; i < target->size(); ++i) {
    const double t = (*target)[i];
    rows.push_back(t == ignored ? SmoothedRow{0, 0, Values(classes, 0.0)}
                                : row_of(z->data() + i * classes, classes, static_cast<std::size_t>(t), smoothing));
  }
  return rows;
}

namespace {

/// Where the name of a layer or a parameter stands in a tensor's; the longest one. An empty length: nowhere.
struct Span {
  std::size_t at = 0, length = 0;
};

Span object_in(const Case& c, const TapName& name) {
  const std::string& tensor = name.tensor;
  Span found;
  const auto look_for = [&](const std::string& object) {
    const auto at = tensor.find(object);
    if (at == std::string::npos || (at > 0 && tensor[at - 1] != '.')) return;
    const std::size_t end = at + object.size();
    if (end < tensor.size() && tensor[end] != '.') return;
    if (object.size() > found.length) found = {at, object.size()};
  };
  const bool by_layer = name.stage == StageName::forward || name.stage == StageName::backward ||
                        name.stage == StageName::fork || name.stage == StageName::running_stats ||
                        name.stage == StageName::sync_statistics;
  for (std::size_t i = 0; by_layer && i < c.model.layers.size(); ++i) look_for(label_of(c.model, i));
  if (by_layer) return found;
  for (const std::string& parameter : parameters_of(c.model)) look_for(parameter);
  return found;
}

}  // namespace

std::string role_of(const Case& c, const TapName& name) {
  const Span span = object_in(c, name);
  if (span.length == 0) return name.tensor;
  const bool by_layer = name.stage == StageName::forward || name.stage == StageName::backward ||
                        name.stage == StageName::fork || name.stage == StageName::running_stats ||
                        name.stage == StageName::sync_statistics;
  const std::string kind = by_layer ? layer_kind_of(c, name.tensor) : "";
  return kind + ":" + name.tensor.substr(0, span.at) + "*" + name.tensor.substr(span.at + span.length);
}

std::vector<std::size_t> taps_in_role(const Evidence& evidence, const std::string& role) {
  std::vector<std::size_t> found;
  const std::vector<Tap>& taps = evidence.trace.taps();
  for (std::size_t i = 0; i < taps.size(); ++i)
    if (taps[i].name.stage == evidence.check.stage && role_of(evidence.c, taps[i].name) == role) found.push_back(i);
  return found;
}

std::string in_role(const Case& c, const std::string& role, const TapName& beside) {
  const auto star = role.find('*'), colon = role.find(':');
  const Span span = object_in(c, beside);
  if (star == std::string::npos || span.length == 0) return role;
  return role.substr(colon + 1, star - colon - 1) + beside.tensor.substr(span.at, span.length) + role.substr(star + 1);
}

std::string words_of_role(const std::string& role) {
  std::string word = role.substr(role.find(':') + 1);
  if (word.starts_with("in.")) word = word.substr(3);
  const auto star = word.find('*');
  if (star == std::string::npos) return word;
  std::string rest = word.substr(0, star) + word.substr(star + 1);
  while (rest.starts_with(".")) rest = rest.substr(1);
  while (rest.ends_with(".")) rest.pop_back();
  const auto dots = rest.find("..");
  if (dots != std::string::npos) rest.erase(dots, 1);
  return rest.empty() ? "the parameter" : rest == "d" ? "the gradient" : rest;
}

std::vector<std::string> input_roles(const Evidence& evidence) {
  const TapName at = tap_name_of(evidence.check.tap);
  std::vector<std::string> roles;
  for (const Tap& tap : evidence.trace.taps()) {
    const TapName& name = tap.name;
    const bool of_all = name.micro_batch < 0 || at.micro_batch < 0;
    const bool same_run =
        name.window == at.window && (of_all || name.micro_batch == at.micro_batch) && name.stage == at.stage;
    const bool count = tap.value.elements() == 0 || tap.value.dtype == Dtype::i64 || tap.value.dtype == Dtype::u8;
    if (!same_run || count || !name.tensor.starts_with("in.")) continue;
    const std::string role = role_of(evidence.c, name);
    const bool of_no_object = object_in(evidence.c, at).length == 0;
    const bool its_own = of_no_object || in_role(evidence.c, role, at) == name.tensor;
    if (its_own && std::find(roles.begin(), roles.end(), role) == roles.end()) roles.push_back(role);
  }
  return roles;
}

}  // namespace tally
