#include "properties/lenses/walk.hpp"

#include <algorithm>

#include "oracle/case/contract.hpp"
#include "oracle/case/kept_tensors.hpp"
#include "oracle/case/rows.hpp"
#include "oracle/case/sharding.hpp"
#include "oracle/tolerance/rule.hpp"
#include "properties/judge/evaluation.hpp"
#include "properties/judge/lens.hpp"
#include "properties/judge/ordered_parts.hpp"
#include "reports/record/record.hpp"

namespace tally {
const char* word_of(Lens lens) { return lens == Lens::local ? "local" : lens == Lens::group ? "group" : "end_to_end"; }

bool Value::same_as(const Value& other) const {
  if (bits_ == nullptr || other.bits_ == nullptr) return bits_ == other.bits_ && expected_ == other.expected_;
  return *bits_ == *other.bits_;
}

Walk::Walk(const Case& the_case, const Trace& the_trace, Lens the_lens)
    : c(the_case),
      trace(the_trace),
      lens(the_lens),
      declared(oracle::declared(the_case.precision, the_trace.claims)),
      layers(layers_of(the_case.model)),
      parameters(parameters_of(the_case.model)),
      weights(weights_of(the_case.model)) {
  declared.asked.spread = is_local() ? oracle::Spread::least : oracle::Spread::none;
  const auto given = [&](const std::string& name) -> Value {
    const auto found = c.tensors.find(name);
    if (found == c.tensors.end()) return {};
    return is_local() ? Value(&found->second) : Value(oracle::as_read(found->second));
  };
  for (const std::string& p : weights) state.parameter[p] = given(p);
  for (const std::string& p : parameters)
    for (const StateTensor* each : state_of(c.recipe.optimizer)) {
      Value& begun = state.optimizer[p].emplace_back(given(each->name + "." + p));
      state.state_from_zero = state.state_from_zero && !begun.known();
    }
  for (const LayerView& layer : layers) {
    state.running_mean[layer.label] = given(layer.label + ".running_mean");
    state.running_var[layer.label] = given(layer.label + ".running_var");
  }
  state.scale = oracle::first_scale(c.recipe.loss_scale);
  if (const auto step = c.tensors.find("step"); step != c.tensors.end()) state.step = step->second.integer(0);
  state.state_from_zero = state.state_from_zero && state.step == 0;
}

bool Walk::is_done() const {
  if (refuted_) return true;
  if (wanted == nullptr || kept != nullptr) return false;
  if (!is_local()) return split_ == wanted->size();
  const auto split =
      std::ranges::count_if(checks, [&](const TensorCheck& check) { return wanted->contains(check.tap); });
  return static_cast<std::size_t>(split) == wanted->size();
}

Value Walk::of_case(Tensor tensor) {
  if (!is_local()) return oracle::as_read(tensor);
  return &kept_.emplace_back(std::move(tensor));
}

Value Walk::rows_of_case(const std::string& tensor, int k) {
  const std::int64_t from = first_row_of(k);
  if (tensor == "target") return of_case(rows_of(*ScoredTarget(c), from, rows(k)));
  if (tensor == "places") return of_case(rows_of(places_of(c), from, rows(k)));
  if (tensor == "positions") return of_case(rows_of(positions_of(c), from, rows(k)));
  return of_case(rows_of(c.tensors.at(tensor), from, rows(k)));
}

Value Walk::mask_of(const LayerView& layer, int k) {
  return of_case(mask_of_rows(c, layer.label, first_row_of(k), rows(k)));
}

Value Walk::as_column(const Value& vector) {
  if (!vector.known()) return {};
  if (vector.bits() != nullptr) {
    Tensor& column = kept_.emplace_back(*vector.bits());
    column.shape.push_back(1);
    return &column;
  }
  oracle::Expected column = *vector.read();
  const Eigen::Index elements = column.v.size();
  column.v.resize(elements, 1);
  column.e.resize(elements, 1);
  return column;
}

const Tensor* Walk::tap(const std::string& stage, const std::string& tensor, int k) const {
  return trace.find(TapView{window, k, stage, tensor, -1, pipe});
}

Value Walk::left(const std::string& stage, const std::string& tensor, int k) const {
  if (is_local()) return tap(stage, tensor, k);
  const auto found = left_.find({k, stage, tensor});
  return found == left_.end() ? Value() : found->second;
}

void Walk::put(const std::string& stage, const std::string& tensor, Value value) {
  if (!is_local()) left_[{micro_batch, stage, tensor}] = std::move(value);
}

void Walk::put_copy(const std::string& parameter, Value value) {
  if (!is_local()) left_[{-1, "cast", parameter}] = std::move(value);
}

void Walk::forget(int first_one, int last) {
  left_.erase(left_.lower_bound({first_one, "", ""}), left_.lower_bound({last, "", ""}));
  decisions.erase(decisions.lower_bound({first_one, 0}), decisions.lower_bound({last, 0}));
}

Place Walk::place(const std::string& stage, const std::string& tensor) const {
  return {word_of(lens), TapName{window, micro_batch, stage, tensor, -1, pipe}.text(), stage};
}

const Tensor* Walk::require_tap(const std::string& stage, const std::string& tensor) {
  const Tensor* found = tap(stage, tensor);
  if (found == nullptr && is_local() && !is_given(c.model, stage)) checks.push_back(not_run(place(stage, tensor)));
  return found;
}

Value Walk::cast_copy(const std::string& parameter) {
  Value copy = left("cast", parameter, -1);
  const bool itself = !copy.known() && follows && is_local() && c.precision.storage == c.precision.master;
  return itself ? state.parameter[parameter] : copy;
}

std::shared_ptr<const oracle::Expected> Walk::read(const LayerView& layer, const Value& value) {
  const bool whole = value.bits() == nullptr || oracle::bound_rule(layer.layer->kind).output_rows == nullptr;
  return whole ? value.read() : std::make_shared<const oracle::Expected>(oracle::only_read(*value.bits()));
}

const oracle::ExpectedTensors& Walk::read(const LayerView& layer, const LayerInputs& inputs) {
  if (!is_local() && !read_.contains(layer.label)) read_.clear();  // of what is expected no more than one layer's
  Read& last = read_[layer.label];
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first && a.second.same_as(b.second); };
  const auto &before = last.inputs.tensors, &now = inputs.tensors;
  if (!before.empty() && std::equal(before.begin(), before.end(), now.begin(), now.end(), same)) return last.tensors;
  last = {inputs, {}};
  for (const auto& [name, value] : now) {
    oracle::Expected all = *read(layer, value);
    if (is_local()) all.similarity = std::make_shared<oracle::Similarity>();
    last.tensors.emplace(name, std::move(all));
  }
  return last.tensors;
}

std::vector<Direction> Walk::directions(const std::string& parameter) const {
  if (!is_local()) return {};
  const std::string gradient = "d." + parameter;
  const Tensor* before = nullptr;
  if (micro_batch > 0) {
    before = tap("backward", gradient, micro_batch - 1);
  } else if (window > 0) {
    const auto last = static_cast<int>(c.windows[static_cast<std::size_t>(window) - 1].size()) - 1;
    before = trace.find(TapView{window - 1, last, "backward", gradient});
  }
  const auto optimizer = state_of(c.recipe.optimizer);
  const bool beside = !optimizer.empty() && !reads_whole_tensors(c.recipe.optimizer);  // one of the parameter's shape
  const std::string word = beside ? optimizer.front()->word : "momentum";
  return {{"the parameter", state.parameter.at(parameter).bits()},
          {"the " + word, beside ? state.optimizer.at(parameter).front().bits() : nullptr},
          {"the gradient before", before}};
}

oracle::Expected Walk::seen(const std::string& stage, const std::string& tensor, oracle::Expected value) const {
  const Tensor* got = lens == Lens::group ? tap(stage, tensor) : nullptr;
  if (got == nullptr || got->elements() != static_cast<std::size_t>(value.v.size())) return value;
  oracle::Expected read = oracle::as_read(*got);
  read.v.resize(value.v.rows(), value.v.cols());  // row-major: the same elements in the same order
  read.e.resize(value.v.rows(), value.v.cols());
  return read;
}

void Walk::know_local(const std::vector<TensorCheck>& local_checks) {
  local_.emplace();
  for (const TensorCheck& check : local_checks) {
    if (check.lens != "local") continue;
    const bool passed = check.status == Status::pass;
    const auto [at, fresh] = local_->emplace(check.tap, passed);
    if (!fresh) at->second = at->second && passed;
  }
}

bool Walk::certified(const std::string& tap_name) {
  if (!local_) know_local(local_lens(c, trace));
  const auto found = local_->find(tap_name);
  return found != local_->end() && found->second;
}

bool is_decided(const Walk& walk) {
  return !walk.ended &&
         std::ranges::none_of(walk.checks, [](const TensorCheck& check) { return check.adopted_share > 0; });
}

}  // namespace tally
