#include "properties/compare/local_walk.hpp"

#include "oracle/case/optimizer_state.hpp"
#include "oracle/case/pairs.hpp"
#include "oracle/case/sequences.hpp"
#include "oracle/tolerance/certifying.hpp"
#include "properties/compare/ahead.hpp"
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

/// How far the errors lie from their spread. What excuses them is found out where they need it: addends that are alike,
/// and how far right sums deviate.
SpreadFinding spread_found(const Output& output, const Tensor& got, const std::vector<Direction>& directions) {
  if (output.count >= 0) return {};  // some rows of a tensor have no random part
  const SpreadFinding at_most = spread_of(output.of.at(output.name), got, directions);
  if (verdict_of(at_most.log10_chance) == SpreadVerdict::expected) return at_most;
  const oracle::Expected& counted = output.of.counted(output.name);
  const SpreadFinding found = spread_of(counted, got, directions);
  if (verdict_of(found.log10_chance) == SpreadVerdict::expected) return found;
  return spread_of(counted, got, directions, leans_of(output, counted, got, directions));
}

/// A large tensor is judged some rows at a time, which stay in the cache. Nothing where the rule needs all rows at
/// once, or where something is to be told of the tensor that only all of it shows. `split` asks for the terms of the
/// worst element's bound.
std::optional<TensorCheck> judged_in_stretches(const Place& here, const Output& output, const Tensor& got,
                                               const std::vector<Direction>& directions, bool split) {
  constexpr Eigen::Index elements_at_once = 1 << 13;
  const Eigen::Index columns = got.shape.empty() ? 1 : got.shape.back();
  const Eigen::Index rows = columns == 0 ? 0 : static_cast<Eigen::Index>(got.elements()) / columns;
  const Eigen::Index at_once = std::max<Eigen::Index>(1, elements_at_once / std::max<Eigen::Index>(1, columns));
  if (output.count >= 0 || rows == 0 || got.dtype == Dtype::i64 || got.dtype == Dtype::u8) return {};
  StretchJudge judge(here, got);
  StretchSpread spread(got, directions);
  const auto stretch = [&](std::size_t i) {
    const Eigen::Index first = static_cast<Eigen::Index>(i) * at_once, some = std::min(at_once, rows - first);
    auto next = output.of.stretch(output.name, first, some);
    if (next && next->v.size() != some * columns) next.reset();
    return next;
  };
  const auto hold = [&](const std::optional<oracle::Expected>& next) {
    if (!next) return false;
    judge.hold(*next);
    spread.add(*next);
    mapped_bytes_read(static_cast<std::size_t>(next->v.size()) * sizeof(float) * (2 + directions.size()));
    return true;
  };
  const auto stretches = static_cast<std::size_t>((rows + at_once - 1) / at_once);
  if (!taken_in_order(stretches, oracle::certifying() == nullptr ? threads_of_a_case() : 1, stretch, hold)) return {};
  TensorCheck check = judge.finish();
  check.spread = spread.found();
  const bool plain = check.status != Status::fail && verdict_of(check.spread.log10_chance) == SpreadVerdict::expected;
  if (!plain) return {};
  if (split && check.bound > 0) {
    Eigen::Index row = 0;
    for (std::size_t k = 0; k + 1 < got.shape.size(); ++k) row = row * got.shape[k] + check.worst_index[k];
    const Eigen::Index column = got.shape.empty() ? 0 : check.worst_index.back();
    if (const auto terms = output.of.terms_by_row(output.name, row, column)) check.terms = *terms;
  }
  return check;
}

/// Bits that the bound admits, and the claim does not. Of another order of addition the bound's own figures tell more,
/// else the first wrong bit.
TensorCheck of_wrong_bits(const Place& here, const oracle::Matrix<float>& predicted, const Tensor& got,
                          TensorCheck inside, const Bits& bits) {
  TensorCheck wrong = judge_bits(here, predicted, got);
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
      parameters(parameters_of(the_case.model)),
      weights(weights_of(the_case.model)) {
  for (const std::string& p : weights) state.parameter[p] = tensor_of(c, p);
  for (const std::string& p : parameters) {
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
  if (tensor == "target") return &kept_.emplace_back(rows_of(*ScoredTarget(c), first, rows(k)));
  if (tensor == "places") return &kept_.emplace_back(rows_of(places_of(c), first, rows(k)));
  if (tensor == "positions") return &kept_.emplace_back(rows_of(positions_of(c), first, rows(k)));
  return &kept_.emplace_back(rows_of(c.tensors.at(tensor), first, rows(k)));
}

const Tensor* LocalWalk::mask_of(const LayerView& layer, int k) {
  const std::int64_t first = first_row(c, static_cast<std::size_t>(window), static_cast<std::size_t>(k));
  return &kept_.emplace_back(mask_of_rows(c, layer.label, first, rows(k)));
}

const Tensor* LocalWalk::as_column(const Tensor* vector) {
  if (vector == nullptr) return nullptr;
  Tensor& column = kept_.emplace_back(*vector);
  column.shape.push_back(1);
  return &column;
}

const Tensor* LocalWalk::tap(const std::string& stage, const std::string& tensor, int k) const {
  return trace.find(TapView{window, k, stage, tensor, -1, pipe});
}

const Tensor* LocalWalk::tap(const std::string& stage, const std::string& tensor) const {
  return tap(stage, tensor, micro_batch);
}

Place LocalWalk::place(const std::string& stage, const std::string& tensor) const {
  return {"local", TapName{window, micro_batch, stage, tensor, -1, pipe}.text(), stage};
}

const Tensor* LocalWalk::require_tap(const std::string& stage, const std::string& tensor) {
  const Tensor* found = tap(stage, tensor);
  if (found == nullptr && !is_given(c.model, stage)) checks.push_back(not_run(place(stage, tensor)));
  return found;
}

const Tensor* LocalWalk::cast_copy(const std::string& parameter) {
  const Tensor* copy = tap("cast", parameter, -1);
  return copy == nullptr && follows && c.precision.storage == c.precision.master ? state.parameter[parameter] : copy;
}

const Tensor* LocalWalk::handed(const std::string& stage, const std::string& tensor, const Tensor* producer) {
  if (producer != nullptr && passes_over(stage, tensor)) return producer;
  const Tensor* read = require_tap(stage, tensor);
  if (read == nullptr && producer != nullptr && !is_given(c.model, stage)) unread.insert(place(stage, tensor).tap);
  if (read == nullptr || producer == nullptr) return read;
  if (!judges && kept != nullptr && wanted != nullptr && !wanted->contains(place(stage, tensor).tap)) return read;
  TensorCheck check = bitwise_check(place(stage, tensor).tap, stage, *producer, *read);
  check.lens = "local";
  checks.push_back(std::move(check));
  if (kept != nullptr) keep(place(stage, tensor), values_of(*producer), *read);
  mapped_bytes_read(producer->bytes.size());
  went_through(place(stage, tensor), *read);
  return read;
}

void LocalWalk::went_through(const Place& here, const Tensor& tensor) {
  mapped_bytes_read(tensor.bytes.size());
  if (gone_through) gone_through(here.tap, tensor.bytes.size());
}

void LocalWalk::keep(const Place& here, std::vector<double> expected, const Tensor& got, std::vector<double> bound) {
  if (wanted == nullptr || wanted->contains(here.tap))
    kept->push_back({tap_name_of(here.tap), got.dtype, std::move(expected), values_of(got), std::move(bound)});
}

void LocalWalk::keep(const Place& here, const oracle::Expected& expected, const Tensor& got) {
  const auto& v = expected.v;
  const auto& e = expected.e;
  keep(here, std::vector<double>(v.data(), v.data() + v.size()), got,
       std::vector<double>(e.data(), e.data() + e.size()));
}

oracle::Expected LocalWalk::read(const LayerView& layer, const Tensor& tensor) {
  return oracle::bound_rule(layer.layer->kind).output_rows != nullptr ? oracle::only_read(tensor)
                                                                      : oracle::as_read(tensor);
}

const oracle::ExpectedTensors& LocalWalk::read(const LayerView& layer, const LayerInputs& inputs) {
  Read& last = read_[layer.label];
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first && same_bits(*a.second, *b.second); };
  const auto &before = last.inputs.tensors, &now = inputs.tensors;
  if (!before.empty() && std::equal(before.begin(), before.end(), now.begin(), now.end(), same)) return last.tensors;
  last = {inputs, {}};
  for (const auto& [name, tensor] : now) {
    oracle::Expected all = read(layer, *tensor);
    all.likeness = std::make_shared<oracle::Likeness>();
    last.tensors.emplace(name, std::move(all));
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
  TensorCheck check = judge_bits(here, *bits, got);
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
  check_tap(here, *got, output, directions, bits);
  went_through(here, *got);
  return got;
}

void LocalWalk::check_tap(const Place& here, const Tensor& got, const Output& output,
                          const std::vector<Direction>& directions, const Bits& bits) {
  const oracle::Prediction predicted = bits.predict && wanted == nullptr ? bits.predict() : std::nullopt;
  if (!judges) {
    if (kept != nullptr) {
      keep(here, output.expected(), got);
    } else if (!predicted) {
      output.of.at(output.name);
    }
    return;
  }
  if (predicted && matches_bits(here, got, output, predicted)) {
    const std::vector<double> right(predicted->data(), predicted->data() + predicted->size());
    if (kept != nullptr) keep(here, right, got);
    return;
  }
  const bool only_judged = !predicted && kept == nullptr && !JudgeObserver::present();
  if (only_judged) {
    if (auto plain = judged_in_stretches(here, output, got, directions, wanted != nullptr)) {
      checks.push_back(*std::move(plain));
      return;
    }
  }
  TensorCheck check = judge(here, output, got, wanted != nullptr);
  if (predicted && check.status != Status::fail) check = of_wrong_bits(here, *predicted, got, std::move(check), bits);
  check.spread = spread_found(output, got, directions);
  if (check.status != Status::fail && verdict_of(check.spread.log10_chance) == SpreadVerdict::fail) {
    check.status = Status::fail;
    check.failure = FailureClass::precision;
  }
  checks.push_back(std::move(check));
  if (kept != nullptr) keep(here, output.expected(), got);
}

const Tensor* LocalWalk::check_output(const std::string& stage, const std::string& tensor,
                                      std::function<oracle::Expected()> rule, const std::vector<Direction>& directions,
                                      const Bits& bits, Evaluation::Stretches stretches) {
  Evaluation evaluation = evaluation_of(std::move(rule), std::move(stretches));
  return check_output(stage, tensor, Output{evaluation}, directions, bits);
}

const Tensor* LocalWalk::check_bits(const std::string& stage, const std::string& tensor,
                                    const std::function<oracle::Matrix<float>()>& rule) {
  const bool only_judged = judges && wanted == nullptr && kept == nullptr && !JudgeObserver::present();
  if (!only_judged) return check_output(stage, tensor, [&] { return oracle::known(rule()); });
  const Tensor* got = require_tap(stage, tensor);
  if (got == nullptr) return got;
  checks.push_back(judge_bits(place(stage, tensor), rule(), *got));
  went_through(place(stage, tensor), *got);
  return got;
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
