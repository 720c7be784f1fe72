// Laws of sums between layers: a fork adds up, and a norm takes its residual sum along.
#include <iterator>
#include <optional>

#include "oracle/case/contract.hpp"
#include "oracle/case/graph.hpp"
#include "oracle/exact/exact.hpp"
#include "oracle/exact/trajectory.hpp"
#include "oracle/real/number.hpp"
#include "properties/generators/blocks.hpp"
#include "properties/generators/choices.hpp"
#include "properties/generators/launch_designs.hpp"
#include "properties/judge/lens.hpp"
#include "properties/laws/law.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

// Law: a fork adds up. The gradient of an output that two, three or four layers read is the sum of what they give,
// (add.3). Run as drawn, where each sum's bits follow from the claimed order, and again in whole numbers so small that
// every sum is exact in any order and any format: there each fork has the bits of the exact sum over its readers, and
// the window's gradient is exact.
//   x, weights and biases are 1 or -1, targets 1 beside the output. Outputs stay within 145, targets within 146 and
//   gradients within 108, times the power of two that the loss brings in: eight bits hold them
namespace tally::a_fork_adds_up_law {
namespace {

using Exact = oracle::Matrix<long double>;

constexpr std::int64_t width = 4;
constexpr std::size_t least_readers = 2, most_readers = 4;

/// A first layer that so many read: a linear layer and a sum, from three on a function, and of four the sum twice.
std::vector<Layer> forked(std::size_t readers) {
  std::vector<Layer> layers{layer("linear", "stem", {{"out", width}}), layer("linear", "branch", {{"out", width}})};
  std::vector<std::string> addends{"stem", "branch"};
  if (readers > 2) {
    layers.push_back(layer("relu", "gate"));
    layers.back().inputs = {"stem"};
    addends.push_back("gate");
  }
  if (readers > 3) addends.push_back("stem");
  layers.push_back(sum_of("sum", addends));
  return layers;
}

void shape(Plan& plan) {
  exact_arithmetic(plan);
  plan.data = Data::exact;
  plan.hidden = forked(least_readers + plan.seed % (most_readers - least_readers + 1));
}

bool is_forked(const Case& c) {
  const std::vector<Layer>& layers = c.model.layers;
  if (layers.size() < 2 || c.model.loss.kind != "mse") return false;
  const std::vector<Layer> hidden(layers.begin(), std::prev(layers.end()));
  for (std::size_t readers = least_readers; readers <= most_readers; ++readers)
    if (hidden == forked(readers)) return true;
  return false;
}

/// What the model leaves of all rows.
Exact output_of(const Case& c) {
  const Exact x = oracle::lift<long double>(c.tensors.at("x"));
  std::vector<Exact> left(c.model.layers.size());
  const auto read = [&](LayerInput from) -> const Exact& {
    return from == model_input ? x : left[static_cast<std::size_t>(from)];
  };
  for (std::size_t i = 0; i < left.size(); ++i) {
    const Layer& layer = c.model.layers[i];
    oracle::Tensors<long double> tensors;
    for (const LayerTensor& tensor : tensors_of(layer))
      tensors[tensor.name] = oracle::lift<long double>(c.tensors.at(layer.name + "." + tensor.name));
    oracle::Pass<long double> pass{layer, tensors, {}};
    const std::vector<LayerInput> inputs = inputs_of(c.model, i);
    for (std::size_t j = 1; j < inputs.size(); ++j) pass.others.push_back(&read(inputs[j]));
    left[i] = oracle::exact_layer<long double>(layer.kind).forward(pass, read(inputs.front())).y;
  }
  return left.back();
}

void keep_signs(Tensor& tensor) {
  for (std::size_t i = 0; i < tensor.elements(); ++i) tensor.set(i, tensor.value(i) < 0 ? -1 : 1);
  tensor.drawing.reset();
}

Case in_whole_numbers(Case c) {
  for (const std::string& parameter : parameters_of(c.model)) keep_signs(c.tensors.at(parameter));
  for (const char* name : {"x", "target"}) keep_signs(c.tensors.at(name));
  const Exact y = output_of(c);
  Tensor& target = c.tensors.at("target");
  for (std::size_t i = 0; i < target.elements(); ++i) target.set(i, static_cast<double>(y.data()[i]) - target.value(i));
  return c;
}

/// Bits of a tap against an exact value; what its format cannot hold turns `exact` false.
class ExactBits {
 public:
  ExactBits(Outcome& outcome, const Trace& trace) : outcome_(outcome), trace_(trace) {}

  /// Without a tap of that name the lenses say so.
  void require_bits(const std::string& name, const std::string& stage, const std::vector<double>& value) {
    const Tensor* got = trace_.find(name);
    if (got == nullptr || got->elements() != value.size()) return;
    Tensor expected(got->dtype, got->shape);
    for (std::size_t i = 0; i < value.size(); ++i) {
      expected.set(i, value[i]);
      exact_ = exact_ && expected.value(i) == value[i];
    }
    add(outcome_, bitwise_check(name, stage, expected, *got));
  }

  void require_all_exact() {
    require(outcome_, exact_, "w0/exact", "unscale", "the case is not exact: a value does not fit its format");
  }

 private:
  Outcome& outcome_;
  const Trace& trace_;
  bool exact_ = true;
};

/// The sum of what the readers of layer i gave; nullopt where one of them left no tap.
std::optional<std::vector<double>> sum_given(const Model& model, const Trace& trace, const std::string& at,
                                             std::size_t i) {
  std::vector<double> sum;
  for (const LayerReader& reader : readers_of(model, i)) {
    const std::string word =
        input_word(model.layers[reader.layer], inputs_of(model, reader.layer).size(), reader.input);
    const Tensor* given = trace.find(at + "in.d." + label_of(model, reader.layer) + "." + word);
    if (given == nullptr || (!sum.empty() && sum.size() != given->elements())) return std::nullopt;
    sum.resize(given->elements());
    for (std::size_t e = 0; e < sum.size(); ++e) sum[e] += given->value(e);
  }
  return sum;
}

/// Every fork of the first window adds up.
void require_forks(ExactBits& bits, const Case& c, const Trace& trace) {
  const Graph graph = graph_of(c.model);
  for (std::size_t k = 0; k < c.windows.front().size(); ++k) {
    const std::string at = "w0/m" + std::to_string(k) + "/fork/";
    for (std::size_t i = 0; i < graph.reached.size(); ++i) {
      if (!graph.reached[i] || graph.readers[i].size() < 2) continue;
      if (const auto sum = sum_given(c.model, trace, at, i))
        bits.require_bits(at + "d." + label_of(c.model, i) + ".y", "fork", *sum);
    }
  }
}

/// The first window's gradient is exact.
void require_gradient(ExactBits& bits, const Case& c) {
  const auto state = oracle::initial_state<long double>(c);
  const auto answer = oracle::evaluate_window<long double>(c, 0, oracle::Branch::accumulated, state);
  for (const auto& [parameter, gradient] : answer.grad) {
    const std::vector<double> value(gradient.data(), gradient.data() + gradient.size());
    bits.require_bits("w0/unscale/d." + parameter, "unscale", value);
  }
}

Outcome holds(const Case& c, const RunOptions& subject) {
  if (!is_forked(c)) return not_for("a first layer of its own that two, three or four layers read");
  CheckedRun drawn = run_and_check(c, subject);
  if (drawn.outcome.status == Status::not_run) return drawn.outcome;
  const Case whole = in_whole_numbers(c);
  const CheckedRun exact = run_and_check(whole, subject);
  add(drawn.outcome, exact.outcome);
  ExactBits bits(drawn.outcome, exact.trace);
  require_forks(bits, whole, exact.trace);
  require_gradient(bits, whole);
  bits.require_all_exact();
  return settled(std::move(drawn.outcome));
}

/// The sum takes its second input in place of its first as well: the stem is read by one layer less.
Case with_a_reader_less(Case c) {
  for (Layer& layer : c.model.layers)
    if (layer.kind == "add") layer.inputs.front() = layer.inputs.at(1);
  return c;
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_a_reader_less(c), subject), {"unscale"});
}

const RegisterLaw registered{{
    .name = "a_fork_adds_up",
    .family = "graph",
    .statement = "The gradient of an output that several layers read is the sum of what they give, to the bit.",
    .shape = shape,
    .holds = holds,
    .control = "with one reader less the gradients differ",
    .differs = differs,
}};

}  // namespace
}  // namespace tally::a_fork_adds_up_law

// Law: a residual sum and its norm as one, forth and back, leave every bit that they leave by themselves.
namespace tally::a_norm_takes_its_sum_along_law {
namespace {

const std::vector<std::string> everything{"cast", "forward",    "loss",    "backward",
                                          "fork", "accumulate", "unscale", "optimizer"};

Outcome holds(const Case& c, const RunOptions& subject) {
  CheckedRun fused = run_and_check(c, subject);
  if (fused.outcome.status == Status::not_run) return fused.outcome;
  Case apart = c;
  apart.execution.kernels.erase("add_norm");
  apart.execution.kernels.erase("add_norm.backward");
  const CheckedRun separate = run_and_check(apart, subject);
  add(fused.outcome, separate.outcome);
  require_equal_bits(fused.outcome, separate.trace, fused.trace, everything,
                     "a sum and its norm as one left other bits than by themselves");
  return settled(std::move(fused.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  Case other = c;
  Tensor& weight = other.tensors.at("fc2.weight");
  for (std::size_t i = 0; i < weight.elements(); ++i) weight.set(i, 1 - weight.value(i));
  weight.drawing.reset();
  return bits_differ(run(c, subject), run(other, subject), {"forward", "unscale"});
}

const RegisterLaw registered{{
    .name = "a_norm_takes_its_sum_along",
    .family = "rms_norm",
    .statement = "A residual sum and its norm as one leave every bit that they leave by themselves.",
    .shape = design_residual_norms,
    .holds = holds,
    .control = "another summand gives other bits",
    .differs = differs,
    .weight = 0.25,
    .designed = true,
}};

}  // namespace
}  // namespace tally::a_norm_takes_its_sum_along_law
