#include "properties/compare/local_walk.hpp"

#include "oracle/case/optimizer_state.hpp"
#include "properties/compare/lens.hpp"
#include "properties/compare/right_sums.hpp"
#include "properties/compare/tensor_rows.hpp"
#include "reports/record/spread.hpp"

namespace tally {
namespace {

const Tensor* tensor_of(const Case& c, const std::string& name) {
  const auto found = c.tensors.find(name);
  return found == c.tensors.end() ? nullptr : &found->second;
}

std::vector<double> values_of(const Tensor& tensor) {
  std::vector<double> values(tensor.elements());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = tensor.value(i);
  return values;
}

/// Bits that the bound admits, and the claim does not. Of another order of addition the bound's own figures tell more,
/// else the first wrong bit.
TensorCheck of_wrong_bits(const Place& here, const oracle::Matrix<float>& predicted, const Tensor& got,
                          TensorCheck inside, const Bits& bits) {
  TensorCheck wrong = judge_bits(here, oracle::known(predicted), got);
  TensorCheck& kept = bits.inside_the_bound == FailureClass::order ? inside : wrong;
  kept.status = Status::fail;
  kept.failure = bits.inside_the_bound;
  kept.differing = wrong.over_bound;
  return std::move(kept);
}

}  // namespace

LocalWalk::LocalWalk(const Case& the_case, const Trace& the_trace)
    : c(the_case),
      trace(the_trace),
      declared(oracle::declared(the_case.precision, the_trace.claims)),
      layers(layers_of(the_case.model)),
      parameters(parameters_of(the_case.model)) {
  for (const std::string& p : parameters) {
    state.parameter[p] = tensor_of(c, p);
    auto& tensors = state.optimizer[p];
    for (const StateTensor* each : state_of(c.recipe.optimizer)) tensors.push_back(tensor_of(c, each->name + "." + p));
  }
  for (const LayerView& layer : layers) {
    state.running_mean[layer.label] = tensor_of(c, layer.label + ".running_mean");
    state.running_var[layer.label] = tensor_of(c, layer.label + ".running_var");
  }
  state.scale = oracle::first_scale(c.recipe.loss_scale);
  if (const Tensor* step = tensor_of(c, "step")) state.step = step->integer(0);
}

const Tensor* LocalWalk::rows_of_case(const std::string& tensor, int k) {
  const std::int64_t first = first_row(c, static_cast<std::size_t>(window), static_cast<std::size_t>(k));
  return &kept_.emplace_back(rows_of(c.tensors.at(tensor), first, rows(k)));
}

const Tensor* LocalWalk::zeros(const std::string& parameter, Dtype dtype) {
  return &kept_.emplace_back(dtype, c.tensors.at(parameter).shape);
}

const Tensor* LocalWalk::tap(const std::string& stage, const std::string& tensor, int k) const {
  return trace.find(TapView{window, k, stage, tensor});
}

const Tensor* LocalWalk::tap(const std::string& stage, const std::string& tensor) const {
  return tap(stage, tensor, micro_batch);
}

Place LocalWalk::place(const std::string& stage, const std::string& tensor) const {
  return {"local", TapName{window, micro_batch, stage, tensor}.text(), stage};
}

const Tensor* LocalWalk::require_tap(const std::string& stage, const std::string& tensor) {
  const Tensor* found = tap(stage, tensor);
  if (found == nullptr) checks.push_back(not_run(place(stage, tensor)));
  return found;
}

const Tensor* LocalWalk::handed(const std::string& stage, const std::string& tensor, const Tensor* producer) {
  const Tensor* read = require_tap(stage, tensor);
  if (read == nullptr && producer != nullptr) unread.insert(place(stage, tensor).tap);
  if (read == nullptr || producer == nullptr) return read;
  TensorCheck check = bitwise_check(place(stage, tensor).tap, stage, *producer, *read);
  check.lens = "local";
  checks.push_back(std::move(check));
  if (kept != nullptr) keep(stage, tensor, values_of(*producer), *read);
  return read;
}

void LocalWalk::keep(const std::string& stage, const std::string& tensor, std::vector<double> expected,
                     const Tensor& got, std::vector<double> bound) {
  const TapName name{window, micro_batch, stage, tensor};
  if (wanted == nullptr || wanted->contains(name.text())) {
    kept->push_back({name, got.dtype, std::move(expected), values_of(got), std::move(bound)});
  }
}

void LocalWalk::keep(const std::string& stage, const std::string& tensor, const oracle::Expected& expected,
                     const Tensor& got) {
  const auto& v = expected.v;
  const auto& e = expected.e;
  keep(stage, tensor, std::vector<double>(v.data(), v.data() + v.size()), got,
       std::vector<double>(e.data(), e.data() + e.size()));
}

const oracle::ExpectedTensors& LocalWalk::read(const LayerView& layer, const LayerInputs& inputs) {
  Read& last = read_[layer.label];
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first && same_bits(*a.second, *b.second); };
  const auto &before = last.inputs.tensors, &now = inputs.tensors;
  if (!before.empty() && std::equal(before.begin(), before.end(), now.begin(), now.end(), same)) return last.tensors;
  last = {inputs, {}};
  for (const auto& [name, tensor] : now) {
    oracle::Expected read = oracle::as_read(*tensor);
    read.likeness = std::make_shared<oracle::Likeness>();
    last.tensors.emplace(name, std::move(read));
  }
  return last.tensors;
}

const Tensor* LocalWalk::check_output(const std::string& stage, const std::string& tensor,
                                      const oracle::Expected& expected) {
  return check_output(stage, tensor, [&] { return expected; });
}

/// True where the bits are those predicted. Nobody asks for the bound then, but who watches what bounds hold.
bool LocalWalk::matches_bits(const Place& here, const Tensor& got, const Output& output,
                             const oracle::Prediction& bits) {
  TensorCheck check = judge_bits(here, oracle::known(*bits), got);
  if (check.status == Status::fail) return false;
  if (JudgeObserver::present()) judge(here, output.expected(), got);
  checks.push_back(std::move(check));
  return true;
}

const Tensor* LocalWalk::check_output(const std::string& stage, const std::string& tensor, const Output& output,
                                      const std::vector<Direction>& directions, const Bits& bits) {
  const Tensor* got = require_tap(stage, tensor);
  const Place here = place(stage, tensor);
  if (got == nullptr || (wanted != nullptr && !wanted->contains(here.tap))) return got;
  const oracle::Prediction predicted = bits.predict && wanted == nullptr ? bits.predict() : std::nullopt;
  if (!judges) {
    if (kept != nullptr) {
      keep(stage, tensor, output.expected(), *got);
    } else if (!predicted) {
      output.of.at(output.name);
    }
    return got;
  }
  if (predicted && matches_bits(here, *got, output, predicted)) {
    const std::vector<double> right(predicted->data(), predicted->data() + predicted->size());
    if (kept != nullptr) keep(stage, tensor, right, *got);
    return got;
  }
  TensorCheck check = judge(here, output, *got, wanted != nullptr);
  if (predicted && check.status != Status::fail) check = of_wrong_bits(here, *predicted, *got, std::move(check), bits);
  const std::optional<oracle::Expected> some_rows = output.count < 0 ? std::nullopt : std::optional(output.expected());
  const oracle::Expected& expected = some_rows ? *some_rows : output.of.at(output.name);
  check.spread = spread_of(expected, *got, directions);
  if (verdict_of(check.spread.log10_chance) != SpreadVerdict::expected) {
    check.spread = spread_of(expected, *got, directions, leans_of(output, expected, *got, directions));
  }
  if (check.status != Status::fail && verdict_of(check.spread.log10_chance) == SpreadVerdict::fail) {
    check.status = Status::fail;
    check.failure = FailureClass::precision;
  }
  checks.push_back(std::move(check));
  if (kept != nullptr) keep(stage, tensor, output.expected(), *got);
  return got;
}

const Tensor* LocalWalk::check_output(const std::string& stage, const std::string& tensor,
                                      std::function<oracle::Expected()> rule, const std::vector<Direction>& directions,
                                      const Bits& bits) {
  Evaluation evaluation = evaluation_of(std::move(rule));
  return check_output(stage, tensor, Output{evaluation}, directions, bits);
}

std::vector<Direction> LocalWalk::directions(const std::string& parameter) const {
  const std::string gradient = "d." + parameter;
  const Tensor* before = nullptr;
  if (micro_batch > 0) {
    before = tap("backward", gradient, micro_batch - 1);
  } else if (window > 0) {
    const auto last = static_cast<int>(c.windows[static_cast<std::size_t>(window) - 1].size()) - 1;
    before = trace.find(TapView{window - 1, last, "backward", gradient});
  }
  const auto optimizer = state_of(c.recipe.optimizer);
  const std::string word = optimizer.empty() ? "momentum" : optimizer.front()->word;
  return {{"the parameter", state.parameter.at(parameter)},
          {"the " + word, optimizer.empty() ? nullptr : state.optimizer.at(parameter).front()},
          {"the gradient before", before}};
}

}  // namespace tally
