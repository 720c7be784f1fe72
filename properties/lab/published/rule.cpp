// Published tolerance rules: how other projects decide that two training runs agree, and what they are given of two
// runs.
#include "properties/lab/published/rule.hpp"

#include <cmath>
#include <map>
#include <set>

#include "oracle/case/kinds.hpp"
#include "oracle/graph/stage.hpp"

namespace tally {

std::vector<const PublishedRule*> published_rules() { return all_records<PublishedRule>(); }

const PublishedRule* find_rule(std::string_view name) { return find_record<PublishedRule>(name); }

namespace {

/// What one run shows, by name; the tensors belong to the trace or to the case.
using Observed = std::map<std::string, const Tensor*>;

bool finished(const Trace& trace, int window) { return trace.find(TapView{window, -1, "schedule", "step"}) != nullptr; }

Observed observed(const Case& c, const Trace& trace, int windows) {
  Observed seen;
  for (const std::string& parameter : parameters_of(c.model)) {
    const Tensor* current = &c.tensors.at(parameter);
    for (int w = 0; w < windows; ++w) {
      const std::string gradient = TapName{w, -1, "unscale", "d." + parameter}.text();
      const std::string update = TapName{w, -1, "optimizer", parameter}.text();
      if (const Tensor* tapped = trace.find(gradient)) seen[gradient] = tapped;
      if (const Tensor* tapped = trace.find(update)) current = tapped;
      seen[update] = current;
    }
  }
  return seen;
}

std::vector<double> values(const Observed& seen, const std::string& name) {
  std::vector<double> all;
  const auto found = seen.find(name);
  if (found == seen.end()) return all;
  for (std::size_t i = 0; i < found->second->elements(); ++i) all.push_back(found->second->value(i));
  return all;
}

double frobenius_norm(const Tensor& tensor) {
  double squares = 0;
  for (std::size_t i = 0; i < tensor.elements(); ++i) squares += tensor.value(i) * tensor.value(i);
  return std::sqrt(squares);
}

/// dW = dYᵀ X and db = dYᵀ 1 of a linear layer of the full batch, unscaled.
std::optional<Product> product_of(const Case& c, const Trace& reference, int window, const std::string& parameter) {
  for (const Layer& layer : c.model.layers) {
    const bool weight = parameter == layer.name + ".weight", bias = parameter == layer.name + ".bias";
    if (layer.kind != kinds::linear || (!weight && !bias)) continue;
    const Tensor* dy = reference.find(TapView{window, 0, "backward", "in.d." + layer.name + ".y"});
    const Tensor* x = reference.find(TapView{window, 0, "backward", "in." + layer.name + ".x"});
    const Tensor* inverse_scale = reference.find(TapView{window, -1, "unscale", "in.inverse_scale"});
    if (!dy || !x || !inverse_scale) return std::nullopt;
    const auto rows = static_cast<double>(dy->shape[0]);
    return Product{dy->shape[0], std::fabs(inverse_scale->value(0)) * frobenius_norm(*dy),
                   weight ? frobenius_norm(*x) : std::sqrt(rows)};
  }
  return std::nullopt;
}

Tensor widened(const Tensor& tensor) {
  Tensor wide(Dtype::fp32, tensor.shape);
  for (std::size_t i = 0; i < tensor.elements(); ++i) wide.set(i, tensor.value(i));
  return wide;
}

}  // namespace

Case in_fp32(const Case& c) {
  Case wide = c;
  wide.precision.storage = Dtype::fp32;
  for (auto& [name, tensor] : wide.tensors) {
    if ((name == "x" || name == "target") && tensor.dtype == c.precision.storage) tensor = widened(tensor);
  }
  return wide;
}

ComparedRuns comparison_of(const Case& c, const Trace& got, const Trace& reference, const Trace& precise) {
  int windows = 0;
  const int all = static_cast<int>(c.windows.size());
  while (windows < all && finished(got, windows) && finished(reference, windows)) ++windows;
  const Observed left = observed(c, got, windows), right = observed(c, reference, windows);
  const Observed exact = observed(c, precise, windows);
  std::set<std::string> names;
  for (const auto& [name, tensor] : left) names.insert(name);
  for (const auto& [name, tensor] : right) names.insert(name);
  ComparedRuns comparison{c.precision.storage, {}};
  for (const std::string& name : names) {
    ComparedTensor tensor{name, values(left, name), values(right, name), values(exact, name), std::nullopt};
    const TapName tap = tap_name_of(name);
    if (tap.stage == StageName::unscale) tensor.product = product_of(c, reference, tap.window, tap.tensor.substr(2));
    comparison.tensors.push_back(std::move(tensor));
  }
  return comparison;
}

ComparedRuns first_gradients(const ComparedRuns& comparison) {
  ComparedRuns first{comparison.storage, {}};
  for (const ComparedTensor& tensor : comparison.tensors) {
    if (tensor.name.starts_with("w0/unscale/")) first.tensors.push_back(tensor);
  }
  return first;
}

}  // namespace tally
