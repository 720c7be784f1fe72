// An activation or its derivative with one thing done otherwise.
#include <algorithm>
#include <cmath>

#include "oracle/case/kinds.hpp"
#include "oracle/exact/exact.hpp"
#include "oracle/graph/stage.hpp"
#include "oracle/registered_files.hpp"
#include "properties/diagnosis/bug.hpp"
#include "properties/diagnosis/bugs/layers/layer_bugs.hpp"
#include "properties/diagnosis/formulas.hpp"
#include "properties/diagnosis/settings.hpp"

namespace tally {
namespace {

std::vector<ActivationOtherwise>& all_ways() {
  static std::vector<ActivationOtherwise> all;
  return all;
}

const oracle::Tensors<long double> no_tensors;

oracle::Matrix<long double> row_of(const Values& values) {
  return Eigen::Map<const oracle::Matrix<double>>(values.data(), 1, std::ssize(values)).cast<long double>();
}

Values values_of(const oracle::Matrix<long double>& row) { return {row.data(), row.data() + row.size()}; }

/// Every activation, once for each word that chooses between kernels.
std::vector<Layer> all_activations() {
  std::vector<Layer> all;
  for (const Contract* contract : drawn_contracts_of("layer")) {
    if (!is_activation(*contract)) continue;
    if (contract->options.empty()) all.push_back({{contract->kind, {}}, ""});
    for (const Option& o : contract->options)
      for (const std::string& word : o.words) all.push_back({{contract->kind, {{o.name, word}}}, ""});
  }
  return all;
}

/// "tanh", "gelu, tanh".
std::string name_of(const Layer& activation) {
  std::string name = activation.kind;
  for (const auto& [option, word] : activation.options) name += ", " + activation.text(option);
  return name;
}

/// The elements of the tensor's layer as the stage read them; empty where it is no activation's.
std::vector<ActivationElement> elements_of(const Evidence& evidence, const HeldTensor& held, const std::string& kind) {
  const bool backward = held.name.stage == StageName::backward;
  const auto layer = backward ? layer_at(evidence, held, "d.", kind, ".x") : layer_at(evidence, held, "", kind, ".y");
  if (!layer) return {};
  const bool drops = kind == kinds::dropout;
  const std::string label = label_of(evidence.c.model, *layer);
  const int w = held.name.window, k = held.name.micro_batch;
  const auto x = evidence.tap(w, k, held.name.stage, "in." + label + ".x");
  const auto dy = backward ? evidence.tap(w, k, "backward", "in.d." + label + ".y") : std::nullopt;
  const auto mask = drops ? evidence.tap(w, k, "forward", "in." + label + ".mask") : std::nullopt;
  const auto fits = [&](const std::optional<Values>& read) { return read && read->size() == held.got.size(); };
  if (!fits(x) || (backward && !fits(dy)) || (drops && !fits(mask))) return {};
  const double p = drops ? evidence.c.model.layers[*layer].number("p").to_double() : 0;
  std::vector<ActivationElement> all(x->size());
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = {drops && backward ? (*dy)[i] : (*x)[i], backward ? (*dy)[i] : 0, !mask || (*mask)[i] != 0, p};
  return all;
}

using Elements = std::vector<std::vector<ActivationElement>>;  // of every held tensor; none where it is another's

/// `left` of x and dy of each tensor; a kernel that cancels is off by a few roundings of x.
template <class F>
Hypothesis way_of(const Elements& elements, std::string sentence, std::string formula, const F& left) {
  Hypothesis way{{}, std::move(sentence), std::move(formula), 0};
  for (const auto& tensor : elements) {
    Values x, dy, bounds;
    for (const ActivationElement& a : tensor) {
      x.push_back(a.x);
      dy.push_back(a.dy);
      bounds.push_back(0x1p-21 * std::fabs(a.dy == 0 ? a.x : a.x * a.dy));
    }
    way.left.push_back(tensor.empty() ? std::nullopt : std::optional(left(x, dy)));
    way.bounds.push_back(tensor.empty() ? std::nullopt : std::optional(bounds));
  }
  return way;
}

/// What may be wrong with any: it is another, or its derivative is another's or left out.
void add_ways_of_any(const Evidence& evidence, const std::string& kind, const Elements& elements,
                     std::vector<Hypothesis>& all) {
  const Contract* contract = find_contract("layer", kind);
  if (contract == nullptr || !is_activation(*contract)) return;
  const bool backward = evidence.check.stage == StageName::backward;
  const auto passed = [](const Values&, const Values& dy) { return dy; };
  if (backward) all.push_back(way_of(elements, "the derivative is left out", "dx = dy", passed));
  if (!affordable(evidence, contracts_of("layer").size())) return;
  for (const Layer& other : all_activations()) {
    if (other.kind == kind) continue;
    const auto left = [&](const Values& x, const Values& dy) {
      return backward ? activation_gradient(other, x, dy) : activated(other, x);
    };
    const std::string sentence = (backward ? "the derivative is that of " : "it is ") + name_of(other);
    all.push_back(way_of(elements, sentence, contract_of("layer", other).definition, left));
  }
}

std::vector<Hypothesis> ways(const Evidence& evidence) {
  const std::string kind = layer_kind_of(evidence.c, tap_name_of(evidence.check.tap).tensor);
  Elements elements;
  for (const HeldTensor& held : evidence.held) elements.push_back(elements_of(evidence, held, kind));
  std::vector<Hypothesis> all;
  for (const ActivationOtherwise& other : all_ways()) {
    if (kind != other.kind || (*other.stage != 0 && evidence.check.stage != other.stage)) continue;
    Hypothesis way{{}, other.sentence, other.formula, 0};
    for (const auto& tensor : elements) {
      Values left;
      for (const ActivationElement& a : tensor) left.push_back(other.left(a));
      way.left.push_back(left.empty() ? std::nullopt : std::optional(std::move(left)));
    }
    all.push_back(std::move(way));
  }
  add_ways_of_any(evidence, kind, elements, all);
  return all;
}

const RegisterBug registered{{
    .name = "activation-otherwise",
    .stages = {"forward", "backward"},
    .sentence = "a term of the activation or of its derivative is missing or wrong",
    .formula = "y = f(x), dx = dy f'(x), with one thing done otherwise",
    .remedy = "correct that term, or call PyTorch's `F.relu`, `F.gelu` or `F.silu`",
    .hypotheses = ways,
}};

}  // namespace

bool is_activation(const Contract& contract) {
  const auto chooses = [&](const Option& option) { return option.name == contract.kernels_by; };
  return contract.tensors.empty() && contract.most_inputs == 1 && std::ranges::all_of(contract.options, chooses);
}

Values activated(const Layer& layer, const Values& x) {
  return values_of(oracle::exact_layer<long double>(layer.kind).forward({layer, no_tensors, {1}}, row_of(x)).y);
}

Values activation_gradient(const Layer& layer, const Values& x, const Values& dy) {
  return values_of(
      oracle::exact_layer<long double>(layer.kind).backward({layer, no_tensors, {1}}, row_of(x), row_of(dy)).dx);
}

RegisterActivationOtherwise::RegisterActivationOtherwise(std::vector<ActivationOtherwise> ways,
                                                         std::source_location at) {
  note_registered(at);
  all_ways().insert(all_ways().end(), ways.begin(), ways.end());
}

}  // namespace tally

// Known mistakes in dropout, in both directions: what goes through is x, or dy.
namespace tally::dropout_otherwise_bug {
namespace {

const RegisterActivationOtherwise registered(
    {{"dropout", "", "kept elements are not scaled by 1 / (1 - p)", "kept: v",
      [](const ActivationElement& a) { return a.kept ? a.x : 0; }},
     {"dropout", "", "kept elements are scaled by 1 / p", "kept: v / p",
      [](const ActivationElement& a) { return a.kept ? a.x / a.p : 0; }},
     {"dropout", "", "kept elements are scaled by 1 - p", "kept: v (1 - p)",
      [](const ActivationElement& a) { return a.kept ? a.x * (1 - a.p) : 0; }},
     {"dropout", "", "dropped and kept elements are swapped", "dropped: v / (1 - p)",
      [](const ActivationElement& a) { return a.kept ? 0 : a.x / (1 - a.p); }},
     {"dropout", "", "nothing is dropped", "v", [](const ActivationElement& a) { return a.x; }},
     {"dropout", "", "nothing is dropped, but all elements are scaled by 1 / (1 - p)", "v / (1 - p)",
      [](const ActivationElement& a) { return a.x / (1 - a.p); }}});

}  // namespace
}  // namespace tally::dropout_otherwise_bug

// Known mistakes in GELU, by erf and by tanh, and its derivative.
namespace tally::gelu_otherwise_bug {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double normal_cdf(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }
double normal_density(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * std::acos(-1.0)); }
double tanh_argument(double x, double cubic = 0.044715) {
  return std::sqrt(2 / std::acos(-1.0)) * (x + cubic * x * x * x);
}

const RegisterActivationOtherwise registered(
    {{"gelu", "forward", "it is the sigmoid approximation of GELU", "y = x σ(1.702 x)",
      [](const ActivationElement& a) { return a.x * sigmoid(1.702 * a.x); }},
     {"gelu", "forward", "the factor 1/2 is left out", "y = x (1 + erf(x/√2))",
      [](const ActivationElement& a) { return 2 * a.x * normal_cdf(a.x); }},
     {"gelu", "forward", "the argument is not divided by √2", "y = x (1 + erf(x)) / 2",
      [](const ActivationElement& a) { return a.x * std::erfc(-a.x) / 2; }},
     {"gelu", "forward", "the cubic term is left out", "y = x (1 + tanh(√(2/π) x)) / 2",
      [](const ActivationElement& a) { return a.x * (1 + std::tanh(tanh_argument(a.x, 0))) / 2; }},
     {"gelu", "forward", "the factor x is left out", "y = Φ(x)",
      [](const ActivationElement& a) { return normal_cdf(a.x); }},
     {"gelu", "backward", "the term with the density is left out", "dx = dy Φ(x)",
      [](const ActivationElement& a) { return a.dy * normal_cdf(a.x); }},
     {"gelu", "backward", "the density is not multiplied by x", "dx = dy (Φ(x) + φ(x))",
      [](const ActivationElement& a) { return a.dy * (normal_cdf(a.x) + normal_density(a.x)); }},
     {"gelu", "backward", "the term with the density has the other sign", "dx = dy (Φ(x) - x φ(x))",
      [](const ActivationElement& a) { return a.dy * (normal_cdf(a.x) - a.x * normal_density(a.x)); }},
     {"gelu", "backward", "the term with tanh's derivative is left out", "dx = dy (1 + tanh u) / 2",
      [](const ActivationElement& a) { return a.dy * (1 + std::tanh(tanh_argument(a.x))) / 2; }},
     {"gelu", "backward", "the cubic term's derivative lacks its factor 3", "u' = √(2/π) (1 + 0.044715 x²)",
      [](const ActivationElement& a) {
        const double t = std::tanh(tanh_argument(a.x));
        const double slope = std::sqrt(2 / std::acos(-1.0)) * (1 + 0.044715 * a.x * a.x);
        return a.dy * ((1 + t) / 2 + a.x * (1 - t * t) * slope / 2);
      }},
     {"gelu", "backward", "tanh's derivative lacks the square", "1 - tanh u for 1 - tanh² u",
      [](const ActivationElement& a) {
        const double t = std::tanh(tanh_argument(a.x));
        const double slope = std::sqrt(2 / std::acos(-1.0)) * (1 + 3 * 0.044715 * a.x * a.x);
        return a.dy * ((1 + t) / 2 + a.x * (1 - t) * slope / 2);
      }}});

}  // namespace
}  // namespace tally::gelu_otherwise_bug

// Known mistakes in ReLU and its derivative.
namespace tally::relu_otherwise_bug {
namespace {

const RegisterActivationOtherwise registered(
    {{"relu", "forward", "negative values pass", "y = x", [](const ActivationElement& a) { return a.x; }},
     {"relu", "forward", "the absolute value is taken", "y = |x|",
      [](const ActivationElement& a) { return std::fabs(a.x); }},
     {"relu", "forward", "it is a leaky ReLU", "y = max(x, 0.01 x)",
      [](const ActivationElement& a) { return a.x > 0 ? a.x : 0.01 * a.x; }},
     {"relu", "forward", "it is ReLU6: values are limited to 6", "y = min(max(x, 0), 6)",
      [](const ActivationElement& a) { return std::fmin(std::fmax(a.x, 0), 6); }},
     {"relu", "backward", "the gradient passes at zero too", "dx = dy where x >= 0",
      [](const ActivationElement& a) { return a.x >= 0 ? a.dy : 0; }},
     {"relu", "backward", "the gradient passes only where the activation is zero", "dx = dy where x < 0",
      [](const ActivationElement& a) { return a.x < 0 ? a.dy : 0; }},
     {"relu", "backward", "the gradient is a leaky ReLU's", "dx = 0.01 dy where x < 0",
      [](const ActivationElement& a) { return a.x > 0 ? a.dy : 0.01 * a.dy; }},
     {"relu", "backward", "the gradient is masked by its own sign, not by the sign of x", "dx = dy where dy > 0",
      [](const ActivationElement& a) { return a.dy > 0 ? a.dy : 0; }},
     {"relu", "backward", "the gradient is multiplied by x", "dx = dy max(x, 0)",
      [](const ActivationElement& a) { return a.dy * std::fmax(a.x, 0); }}});

}  // namespace
}  // namespace tally::relu_otherwise_bug

// Known mistakes in sigmoid, tanh and their derivatives.
namespace tally::sigmoid_otherwise_bug {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

const RegisterActivationOtherwise registered(
    {{"sigmoid", "forward", "the sign of x is lost", "y = 1 / (1 + exp(x))",
      [](const ActivationElement& a) { return sigmoid(-a.x); }},
     {"sigmoid", "backward", "the factor 1 - y is left out", "dx = dy y",
      [](const ActivationElement& a) { return a.dy * sigmoid(a.x); }},
     {"sigmoid", "backward", "the factor y is left out", "dx = dy (1 - y)",
      [](const ActivationElement& a) { return a.dy * (1 - sigmoid(a.x)); }},
     {"sigmoid", "backward", "x stands for y", "dx = dy x (1 - x)",
      [](const ActivationElement& a) { return a.dy * a.x * (1 - a.x); }},
     {"sigmoid", "backward", "the square of y is taken", "dx = dy (1 - y²)",
      [](const ActivationElement& a) { return a.dy * (1 - sigmoid(a.x) * sigmoid(a.x)); }},
     {"tanh", "backward", "y is not squared", "dx = dy (1 - y)",
      [](const ActivationElement& a) { return a.dy * (1 - std::tanh(a.x)); }},
     {"tanh", "backward", "1 + y² stands for 1 - y²", "dx = dy (1 + y²)",
      [](const ActivationElement& a) { return a.dy * (1 + std::tanh(a.x) * std::tanh(a.x)); }},
     {"tanh", "backward", "x stands for y", "dx = dy (1 - x²)",
      [](const ActivationElement& a) { return a.dy * (1 - a.x * a.x); }}});

}  // namespace
}  // namespace tally::sigmoid_otherwise_bug

// Known mistakes in SiLU and its derivative.
namespace tally::silu_otherwise_bug {
namespace {

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

const RegisterActivationOtherwise registered(
    {{"silu", "forward", "the factor x is left out", "y = σ(x)",
      [](const ActivationElement& a) { return logistic(a.x); }},
     {"silu", "forward", "the sign of x is lost", "y = x σ(-x)",
      [](const ActivationElement& a) { return a.x * logistic(-a.x); }},
     {"silu", "forward", "it is the sigmoid approximation of GELU", "y = x σ(1.702 x)",
      [](const ActivationElement& a) { return a.x * logistic(1.702 * a.x); }},
     {"silu", "backward", "the term with the derivative of σ is left out", "dx = dy σ(x)",
      [](const ActivationElement& a) { return a.dy * logistic(a.x); }},
     {"silu", "backward", "the term with σ alone is left out", "dx = dy x σ(x) (1 - σ(x))",
      [](const ActivationElement& a) { return a.dy * a.x * logistic(a.x) * logistic(-a.x); }},
     {"silu", "backward", "the derivative of σ is not multiplied by x", "dx = dy (σ(x) + σ(x) (1 - σ(x)))",
      [](const ActivationElement& a) { return a.dy * (logistic(a.x) + logistic(a.x) * logistic(-a.x)); }}});

}  // namespace
}  // namespace tally::silu_otherwise_bug
